"""Other frameworks work with this memory, each tried with the framework itself."""
