"""What is measured: one module each, loaded in an environment of its own."""
