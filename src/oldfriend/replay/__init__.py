"""Replay: learn the same log again with another model, and compare the results."""
