"""What do two memories believe differently? Told by what they say, not by their ids."""
