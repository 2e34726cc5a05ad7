"""A store in lists and dictionaries: the reference that every other backend is compared with."""
