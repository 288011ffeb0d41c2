"""Role inference: finds the assistant of a conversation of two whose roles are not given.

An assistant answers each message, and at a length at which nobody else writes: requests are short.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

from oldfriend.domain.messages import estimate_tokens

SPEAKERS: Final = 2
MIN_MESSAGES: Final = 8
"""Messages of a conversation in which roles are inferred."""
MIN_TURNS: Final = 0.95
"""Of all messages, those that follow one of the other speaker."""
MIN_FIRST: Final = 0.8
"""Of all sessions, those that the person begins."""
MIN_TOKENS: Final = 60
"""Tokens of half of the assistant's messages, at least …"""
MIN_RATIO: Final = 2.5
"""… and how many times the person's."""


@dataclass(slots=True)
class TurnTally:
    """How two speakers take turns, and how long what they write is."""

    tokens: dict[str, Counter[int]] = field(default_factory=dict)
    first: Counter[str] = field(default_factory=Counter)
    turns: int = 0
    repeats: int = 0  # messages after one of the same speaker
    _last: dict[str, str] = field(default_factory=dict)  # for each session, who spoke last

    def add(self, session: str, speaker: str, text: str) -> None:
        """Count one more message of a session; no more once there are too many speakers."""
        if len(self.tokens) > SPEAKERS:
            return
        self.tokens.setdefault(speaker, Counter())[estimate_tokens(text)] += 1
        last = self._last.get(session)
        self._last[session] = speaker
        if last is None:
            self.first[speaker] += 1
        elif last == speaker:
            self.repeats += 1
        else:
            self.turns += 1

    def find_assistant(self) -> str | None:
        """Return who writes like an assistant; None if nobody does, or a speaker has no name."""
        total = sum(counts.total() for counts in self.tokens.values())
        if len(self.tokens) != SPEAKERS or total < MIN_MESSAGES or "" in self.tokens:
            return None
        lengths = {speaker: find_median(counts) for speaker, counts in self.tokens.items()}
        person, assistant = sorted(lengths, key=lambda each: lengths[each])
        is_assistant = (
            self.turns >= MIN_TURNS * (self.turns + self.repeats)
            and self.first[person] >= MIN_FIRST * self.first.total()
            and lengths[assistant] >= max(MIN_TOKENS, MIN_RATIO * lengths[person])
        )
        return assistant if is_assistant else None


def find_median(counts: Counter[int]) -> int:
    """Return the least number that at least half of the counted ones do not exceed."""
    numbers = sorted(counts)
    half = counts.total() / 2
    reached = accumulate(counts[each] for each in numbers)
    return next(each for each, so_far in zip(numbers, reached, strict=True) if so_far >= half)


def find_assistant(messages: Iterable[tuple[str, str, str]]) -> str | None:
    """Return who of two speakers writes like an assistant, from session, speaker and text."""
    tally = TurnTally()
    for session, speaker, text in messages:
        tally.add(session, speaker, text)
    return tally.find_assistant()
