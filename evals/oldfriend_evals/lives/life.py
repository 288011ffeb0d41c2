"""A simulated life: months of somebody's talk, and what is true of it. Values only.

It does not know where lives come from, nor what a store makes of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Literal, NewType

from oldfriend.domain.clock import Micros
from oldfriend.domain.memories import (
    EntityKind,
    MemoryKind,
    MoodSignal,
    PatternKind,
    RelationalTag,
    RelationType,
    Subject,
)
from oldfriend.domain.messages import UnloggedMessage

LineId = NewType("LineId", str)
BeliefId = NewType("BeliefId", str)

Ending = Literal["superseded", "ended", "fulfilled", "expired"]
Fault = Literal[
    "measurement",
    "one-off",
    "hypothetical",
    "suggestion",
    "joke",
    "sarcasm",
    "question",
    "another's",
    "refused",
    "secret",
    "outside",
    "instruction",
]
"""Why something that was said must not be believed of the person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One message of a life, with the day on which it comes in."""

    id: LineId  # also its ``external_id``
    day: date  # of an imported message: the day of the import, not of the words
    channel: str
    chat: str
    spoken: UnloggedMessage
    is_imported: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """What comes in on one day, in order."""

    number: int  # from 1
    date: date
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """Exact words of a line."""

    line: LineId
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """With which words a belief stopped being so, and how."""

    line: LineId
    on: date
    how: Ending


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A kind, and the key where the kind has one, under which something may rightly be kept."""

    kind: MemoryKind
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief:
    """Something that is right and worth keeping."""

    id: BeliefId
    texts: tuple[str, ...]  # wordings that say it; the first is the best
    quotes: tuple[Cited, ...]  # the first told it, the others say it again
    known_on: date
    forms: tuple[Form, ...]  # the first is the best
    values: tuple[str, ...] = ()  # of a fact or preference: each is right
    subject: Subject = "person"
    pattern: PatternKind | None = None
    impact: int = 0
    relational: tuple[RelationalTag, ...] = ()
    is_peak: bool = False
    happened_on: date | None = None
    due: str = ""  # ISO 8601: a day, or a time by the clocks of the life's zone
    due_at: Micros | None = None  # the same moment
    holds_from: date | None = None
    holds_until: date | None = None
    supersedes: BeliefId | None = None
    end: End | None = None
    is_required: bool = True  # False: right when it is kept, and not missed when it is not

    @property
    def kind(self) -> MemoryKind:
        """The kind that fits best."""
        return self.forms[0].kind

    @property
    def key(self) -> str:
        """The key that fits best."""
        return self.forms[0].key

    @property
    def lines(self) -> frozenset[LineId]:
        """The messages that say it."""
        return frozenset(quote.line for quote in self.quotes)

    def is_current(self, day: date) -> bool:
        """Whether somebody who heard all until the end of a day would believe it."""
        has_ended = self.end is not None and self.end.on <= day
        is_past = self.holds_until is not None and self.holds_until <= day
        return self.known_on <= day and not has_ended and not is_past


@dataclass(frozen=True, slots=True, kw_only=True)
class Trap:
    """What a line seems to tell, and must not be kept as."""

    line: LineId
    fault: Fault
    kind: MemoryKind
    texts: tuple[str, ...]
    key: str = ""
    value: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias:
    """A further name of somebody, and the line that uses it first."""

    name: str
    line: LineId


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """Somebody or something with a name, and where it is first said."""

    name: str
    kind: EntityKind
    aliases: tuple[str, ...]  # that are said with it
    line: LineId
    later: tuple[Alias, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All that this one is ever called."""
        return self.name, *self.aliases, *(alias.name for alias in self.later)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tied:
    """How one who has a name stands to another, read from the first to the second."""

    one: str
    tie: RelationType
    other: str
    line: LineId
    since: date | None = None
    ended: LineId | None = None  # None: still so


@dataclass(frozen=True, slots=True, kw_only=True)
class Felt:
    """How the person seemed at the end of a session, whose last words are these."""

    line: LineId
    signal: MoodSignal | None  # None: neither way


@dataclass(frozen=True, slots=True, kw_only=True)
class Stand:
    """What the companion thinks of a topic, and where it is lured into saying the contrary."""

    topic: str
    text: str
    contrary: str
    line: LineId
    baits: tuple[LineId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrusted:
    """What was told to the companion alone, by words that give it away."""

    line: LineId
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Then:
    """What has to be believed under a key at the end of a day."""

    day: date
    key: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What a friend who was there would know after it, and what not."""

    beliefs: tuple[Belief, ...]
    traps: tuple[Trap, ...]
    names: tuple[Called, ...]
    ties: tuple[Tied, ...] = ()
    moods: tuple[Felt, ...] = ()
    stands: tuple[Stand, ...] = ()
    entrusted: tuple[Entrusted, ...] = ()
    then: tuple[Then, ...] = ()

    @property
    def peaks(self) -> tuple[Belief, ...]:
        """The events that must never be lost."""
        return tuple(belief for belief in self.beliefs if belief.is_peak)

    def list_current(self, day: date) -> tuple[Belief, ...]:
        """What is so at the end of a day, as far as it was told until then."""
        return tuple(belief for belief in self.beliefs if belief.is_current(day))


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """Months of somebody's talk, and its truth."""

    language: str
    person: str
    companion: str
    zone: str
    days: tuple[Day, ...]
    truth: Truth

    @property
    def lines(self) -> Iterator[Line]:
        """All messages, in the order in which they come in."""
        return (line for day in self.days for line in day.lines)
