"""How one reply comes to be."""
