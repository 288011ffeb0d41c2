"""A harness for each channel."""
