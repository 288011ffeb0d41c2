"""PostgreSQL engine: one server for any number of processes and machines."""
