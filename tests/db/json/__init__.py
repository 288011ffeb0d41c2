"""The readable file."""
