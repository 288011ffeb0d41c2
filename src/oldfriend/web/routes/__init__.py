"""What can a page ask for, and have done? One module for each place in the house."""
