"""Projections: (stored event, view) to changes. Pure; the logic of the read model, once for all backends."""
