"""Benchmarks: ratios from one run, against a floor of raw SQLite and against peers."""
