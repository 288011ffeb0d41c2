"""SQLite engine: one file on this machine, for several processes at once."""
