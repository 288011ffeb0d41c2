"""How does one PostgreSQL server keep everything, for any number of processes and machines?"""
