"""Nouns: what a conversation is made of. Frozen values, no input or output."""
