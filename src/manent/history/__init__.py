"""Use cases: what people and programs do with conversations. Built on the port, never on one backend."""
