"""Memory store: messages, journal, beliefs with evidence, views, sessions and people, in SQL."""
