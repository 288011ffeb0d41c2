"""What would be believed, had somebody else read it all? A second memory of the same log."""
