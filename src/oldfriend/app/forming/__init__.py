"""How does memory form itself here? When talk is ripe it is read, in the order in which it was."""
