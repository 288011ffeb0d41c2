"""The weather over a platform: which of its calls fail by chance, undone or only unanswered."""

import random
from collections.abc import Callable
from typing import Literal, TypeAlias

Mishap: TypeAlias = Literal["", "unreachable", "unanswered"]
"""What happens to a call: nothing; it is not carried out; it is, and the answer is lost."""
Weather: TypeAlias = Callable[[], Mishap]


class Storm:
    """A share of all calls fails; of these, a share is carried out all the same."""

    def __init__(self, share: float, *, carried_out: float = 0.5, seed: int = 0) -> None:
        """Nothing has failed yet."""
        self._share, self._carried_out = share, carried_out
        self._dice = random.Random(seed)
        self.calls = self.failed = self.unanswered = 0

    def __call__(self) -> Mishap:
        """What happens to the next call."""
        self.calls += 1
        if self._dice.random() >= self._share:
            return ""
        self.failed += 1
        is_done = self._dice.random() < self._carried_out
        self.unanswered += is_done
        return "unanswered" if is_done else "unreachable"


def fine() -> Mishap:
    """Nothing fails by chance."""
    return ""
