"""What keeps a claim from being believed? Gates, each with the reason that it gives."""
