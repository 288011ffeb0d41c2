"""What is to be kept of this turn beyond the words themselves? Notes that the person asked for."""

from oldfriend.turn.outcome import NoteDecision
from oldfriend.turn.perceive import RULES, Perception


def remember(perception: Perception) -> tuple[NoteDecision, ...]:
    """The decisions that this turn makes; somebody else writes them."""
    if perception.note is None:
        return ()
    return (NoteDecision(text=perception.note, author=RULES),)
