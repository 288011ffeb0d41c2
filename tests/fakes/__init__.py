"""What stands in for the world outside: servers of models, over real connections."""
