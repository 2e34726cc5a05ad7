"""One SQLite file as a store: the default. The only room that imports `apsw`."""
