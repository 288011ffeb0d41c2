"""Usage: model calls and tool calls that were made for a person, and their costs."""
