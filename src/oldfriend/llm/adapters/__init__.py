"""How do we reach this particular model? One module for each."""
