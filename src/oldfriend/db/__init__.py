"""Databases: one interface, with engines for SQLite, PostgreSQL and readable JSON."""
