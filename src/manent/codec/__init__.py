"""Events to bytes and back. Pure: no input or output, no clock, no randomness of its own."""
