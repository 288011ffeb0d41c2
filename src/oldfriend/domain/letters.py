"""What is waiting to be done? A letter, its lane, and the claim of the one who works on it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import PersonId
from oldfriend.domain.json import JsonValue

Queue: TypeAlias = Literal["inbox", "outbox", "agenda"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """One thing that waits in a lane."""

    queue: Queue
    lane: str
    seq: int  # order of putting, per lane
    person: PersonId | None  # None: nobody's in particular
    key: str | None  # by which a second putting of the same is known
    group: str | None  # what it is a part of, all of which is parked, retried or dropped together
    body: Mapping[str, JsonValue]
    put_at: Micros
    due_at: Micros
    attempts: int
    error: str | None  # what went wrong the last time
    is_parked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A lane that somebody holds for a while, and what was due in it when it was taken."""

    queue: Queue
    lane: str
    owner: str
    epoch: int  # raised by each claim; whoever comes with an older one has lost the lane
    taken_at: float  # the holder's uptime in seconds, before the lease began
    letters: tuple[Letter, ...]  # oldest first; empty only when some were given up
    given_up: tuple[Letter, ...] = ()  # begun too often, and parked by this claim
