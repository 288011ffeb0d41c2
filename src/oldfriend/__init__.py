"""Oldfriend: a companion, and a memory for your own program, that remembers like an old friend."""

__version__ = "0.1.0"
