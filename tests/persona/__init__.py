"""Who the companion is, and how people decide it."""
