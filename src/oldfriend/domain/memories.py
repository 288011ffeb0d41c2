"""What is believed? Memories, their evidence, and the decisions that made them."""

from dataclasses import dataclass
from typing import Literal

from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import EvidenceId, MemoryId, MessageId, PersonId
from oldfriend.domain.trust import TrustClass

MemoryKind = Literal["note"]
ChangeOp = Literal["learned", "ended"]
Signal = Literal["explicit"]

CHANGE_VERSION = 1
"""The shape of a change record that this code writes; older ones are upcast on reading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """A message version that a decision rests on."""

    message: MessageId
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Something believed, as it was decided."""

    id: MemoryId
    person: PersonId
    kind: MemoryKind
    text: str
    language: str
    learned_at: Micros
    ended_at: Micros | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A decision already made about one memory. Folding changes gives the memories."""

    person: PersonId
    seq: int
    object: MemoryId
    op: ChangeOp
    v: int
    after: Memory  # the object as decided; folding copies it
    causes: tuple[Cause, ...]
    author: str  # a rule with its version, a prompt with its version, or the person
    base: int  # the object's newest change when this was decided; 0 for a new object


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The exact words that support a memory."""

    id: EvidenceId
    memory: MemoryId
    message: MessageId
    version: int
    quote: str
    author: str
    trust: TrustClass
    signal: Signal
    said_at: Micros
    zone: str  # of the message that is quoted
