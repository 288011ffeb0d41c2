"""JSON engine: everything in one readable file, for one process at a time."""
