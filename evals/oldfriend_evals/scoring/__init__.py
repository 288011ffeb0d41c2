"""By which scorer are beliefs found best? A replay with each, on the lives and on one's own log."""
