"""Training of the reader, the small model that finds answers in messages."""
