"""Steps from one store format to the next, each a script named by the format that it gives."""
