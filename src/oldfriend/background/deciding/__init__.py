"""What becomes of a claim that was checked, given what is known? Pure: nothing is written here."""

from oldfriend.background.deciding.claims import decide_all
from oldfriend.background.deciding.deliberation import Decision, Deliberation, Same, Scene

__all__ = ["Decision", "Deliberation", "Same", "Scene", "decide_all"]
