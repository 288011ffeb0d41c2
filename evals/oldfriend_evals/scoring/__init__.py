"""Comparison of belief scorers: a replay with each, on the lives and on one's own log."""
