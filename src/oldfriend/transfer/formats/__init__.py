"""Which files can be read, and what do they say? One module a format."""
