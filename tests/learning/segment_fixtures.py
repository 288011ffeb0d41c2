"""A stretch of talk made of lines, and claims that cite them."""

from collections.abc import Iterable

from oldfriend.domain.clock import MINUTE
from oldfriend.domain.ids import (
    ChatId,
    EntityId,
    MemoryId,
    MessageId,
    ObjectId,
    PersonId,
    SegmentId,
    SessionId,
)
from oldfriend.domain.memories import (
    Entity,
    EntityKind,
    EvidenceStats,
    MemoryKind,
    MemoryState,
    StoredBelief,
)
from oldfriend.domain.messages import Message, Person, Role, TrustClass, estimate_tokens
from oldfriend.lang.detection import detect_language
from oldfriend.learning.extraction import Claim, Extraction, ExtractionInput, Quote
from tests.clock import NOON

NORA = PersonId("nora")
ROLES: dict[str, tuple[Role, TrustClass]] = {
    "person": ("person", "person"),
    "companion": ("companion", "companion"),
    "outside": ("person", "outside"),
    "tool": ("tool", "tool"),
    "marker": ("marker", "tool"),
}


def said(number: int, line: str, *, language: str = "en") -> Message:
    """A message from a line such as "companion: Hello."; with no speaker, it is the person's."""
    who, colon, words = line.partition(": ")
    if not colon or not (who in ROLES or who.istitle()):
        who, words = "person", line
    role, trust = ROLES.get(who, ("other", "other"))
    return Message(
        id=MessageId(f"id-{number}"),
        version=1,
        seq=number,
        person=NORA,
        chat=ChatId("c"),
        session=SessionId("s"),
        session_name="s",
        channel="terminal",
        role=role,
        author=who,
        speaker=who if trust == "other" else "Nora",
        trust=trust,
        text=words,
        at=NOON + number * MINUTE,
        zone="Europe/Lisbon",
        language=detect_language(words, fallback=language),
        tokens=estimate_tokens(words),
        turn=None,
        external_id=None,
        batch=None,
        details={},
    )


def talk(
    *lines: str,
    language: str = "en",
    before: Iterable[str] = (),
    known: Iterable[MemoryState] = (),
    entities: Iterable[Entity] = (),
) -> ExtractionInput:
    """What is to be read: id-1, id-2 …"""
    return ExtractionInput(
        segment=SegmentId("segment"),
        person=Person(id=NORA, name="Nora", is_owner=True, language=language, zone="Europe/Lisbon"),
        companion="Miro",
        messages=tuple(said(n, line, language=language) for n, line in enumerate(lines, 1)),
        context_messages=tuple(
            said(n, line, language=language) for n, line in enumerate(before, -99)
        ),
        known=tuple(known),
        shown=tuple(known),
        entities=tuple(entities),
    )


def believed(name: str, kind: MemoryKind, text: str, **fields: object) -> MemoryState:
    """Something that is known already."""
    memory = StoredBelief(
        id=MemoryId(ObjectId(name)),
        person=NORA,
        kind=kind,
        text=text,
        language="en",
        learned_at=NOON,
        **fields,
    )
    standing = EvidenceStats(
        strength=1, confidence=0.7, times_seen=1, first_seen=NOON, last_seen=NOON
    )
    return MemoryState(memory=memory, stats=standing, base_seq=1)


def somebody(name: str, called: str, *aliases: str, kind: EntityKind = "person") -> Entity:
    """Somebody who is known by name, or something."""
    return Entity(
        id=EntityId(ObjectId(name)),
        person=NORA,
        name=called,
        kind=kind,
        aliases=aliases,
        learned_at=NOON,
    )


def quote(text: str, message: int = 1) -> Quote:
    """Words of a message, by its number."""
    return Quote(message=MessageId(f"id-{message}"), text=text)


def claim(kind: MemoryKind, text: str, *quotes: Quote | str, **fields: object) -> Claim:
    """A claim that rests on quotes; a text alone is one of the first message."""
    cited = tuple(quote(each) if isinstance(each, str) else each for each in quotes)
    return Claim(kind=kind, text=text, quotes=cited, **fields)


def read(*claims: Claim, **fields: object) -> Extraction:
    """What somebody has read."""
    return Extraction(author="extract/2", claims=claims, **fields)
