"""Storage: the port, its backends and its wrappers. Impure; no rule about conversations lives here."""
