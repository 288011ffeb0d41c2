"""How is something forgotten for good? Chosen, foreseen, removed, proved, and not learned again."""
