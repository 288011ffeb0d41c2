"""E-mail: the channel for letters to an address of the companion's own."""
