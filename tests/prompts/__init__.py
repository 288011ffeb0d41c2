"""What is said to a model, or in its place."""
