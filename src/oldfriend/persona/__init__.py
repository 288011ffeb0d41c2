"""Persona: who the companion is, who the person is to it, and how people decide that."""
