"""Search without a store: what a query means, where a text answers it, and what of it to show."""
