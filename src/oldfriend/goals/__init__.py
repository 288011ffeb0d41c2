"""Goals: what a person wants to reach, what they told of it, and what became of it."""
