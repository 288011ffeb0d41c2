"""Messages as the rules read them, on Wednesday, 7 May 2025, at six in the evening."""

from collections.abc import Mapping
from datetime import UTC, datetime

from oldfriend.domain.clock import MINUTE, to_micros
from oldfriend.domain.ids import ChatId, MessageId, PersonId, SegmentId, SessionId
from oldfriend.domain.memories import Entity, MemoryState
from oldfriend.domain.messages import Message, Person, Role, TrustClass
from oldfriend.learning.extraction import Extraction, ExtractionInput
from oldfriend.learning.rule_extraction.rule_extractor import extract_with_rules

WEDNESDAY = to_micros(datetime(2025, 5, 7, 18, 0, tzinfo=UTC))


def message(
    text: str,
    *,
    number: int = 0,
    language: str = "en",
    role: Role = "person",
    speaker: str = "Nora",
    trust: TrustClass | None = None,
    at: int = WEDNESDAY,
    zone: str = "UTC",
    details: Mapping[str, str] | None = None,
) -> Message:
    """One message, everything about it that the rules do not look at made up."""
    if trust is None:
        trust = "companion" if role == "companion" else "other" if role == "other" else "person"
    return Message(
        id=MessageId(f"m{number}"),
        version=1,
        seq=number,
        person=PersonId("nora"),
        chat=ChatId("chat"),
        session=SessionId("session"),
        session_name="session",
        channel="terminal",
        role=role,
        author=role,
        speaker=speaker,
        trust=trust,
        text=text,
        at=at + number * MINUTE,
        zone=zone,
        language=language,
        tokens=len(text) // 4,
        turn=None,
        external_id=None,
        batch=None,
        details=details or {},
    )


def material_of(
    *messages: Message, entities: tuple[Entity, ...] = (), known: tuple[MemoryState, ...] = ()
) -> ExtractionInput:
    """What there is to read."""
    return ExtractionInput(
        segment=SegmentId("segment"),
        person=Person(id=PersonId("nora"), name="Nora", is_owner=True, language="en", zone="UTC"),
        companion="Oldfriend",
        messages=messages,
        entities=entities,
        known=known,
    )


def read(
    *messages: Message, entities: tuple[Entity, ...] = (), known: tuple[MemoryState, ...] = ()
) -> Extraction:
    """What the rules read in these messages."""
    return extract_with_rules(material_of(*messages, entities=entities, known=known))


def said(*texts: str, language: str = "en") -> Extraction:
    """What the rules read in texts of the person, a minute apart."""
    return read(*(message(text, number=n, language=language) for n, text in enumerate(texts)))
