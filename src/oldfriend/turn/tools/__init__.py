"""Tools: what the companion can do besides talking."""
