"""How do the values of the house become the forms of the API? Purely."""
