"""Matrix: the channel for Matrix rooms."""
