"""How are lives read in these tests? Day by day, as the house does, but believing at once."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from oldfriend.domain.clock import Micros, parse_timestamp
from oldfriend.domain.ids import (
    ChatId,
    EvidenceId,
    MemoryId,
    MessageId,
    ObjectId,
    PersonId,
    SegmentId,
    SessionId,
)
from oldfriend.domain.memories import Evidence, EvidenceStats, MemoryState, StoredBelief
from oldfriend.domain.messages import Message, Person
from oldfriend.learning.extraction import Claim, Extraction, ExtractionInput
from oldfriend.learning.llm_extractor import extract_with_model
from oldfriend.llm.model import LanguageModel
from oldfriend_evals.lives.belief_eval import Held
from oldfriend_evals.lives.life import Belief, Day, Life, Line

PERSON = PersonId("person")
Gate = Callable[[Extraction, ExtractionInput], Extraction]


def as_read(extraction: Extraction, _: ExtractionInput) -> Extraction:
    """No gate at all."""
    return extraction


def places_of(life: Life) -> dict[MessageId, str]:
    """Here a message has the id of its line."""
    return {MessageId(line.id): line.id for line in life.lines}


def message_of(line: Line, seq: int) -> Message:
    """A line as it stands in the log."""
    said = line.spoken
    return Message(
        id=MessageId(line.id),
        version=1,
        seq=seq,
        person=PERSON,
        chat=ChatId(line.chat),
        session=SessionId(f"{line.day} {line.chat}"),
        session_name="",
        channel=line.channel,
        role=said.role,
        author=said.role,
        speaker=said.speaker,
        trust=said.trust,
        text=said.text,
        at=said.at,
        zone=said.zone,
        language="",
        tokens=10,
        turn=None,
        external_id=said.external_id,
        batch=None,
        details=said.details,
    )


def material_of(life: Life, day: Day, known: Sequence[StoredBelief] = ()) -> ExtractionInput:
    """A day as one segment."""
    standing = EvidenceStats(strength=1, confidence=0.9, times_seen=1, first_seen=0, last_seen=0)
    states = tuple(MemoryState(memory=memory, stats=standing, base_seq=1) for memory in known)
    return ExtractionInput(
        segment=SegmentId(str(day.date)),
        person=Person(
            id=PERSON, name=life.person, is_owner=True, language=life.language, zone=life.zone
        ),
        companion=life.companion,
        messages=tuple(message_of(line, seq) for seq, line in enumerate(day.lines, 1)),
        known=states,
        shown=states,
    )


@dataclass(slots=True)
class Store:
    """Believes what it is given; follows what a claim says of what is known, and checks nothing."""

    held: list[Held] = field(default_factory=list)

    def take(self, extraction: Extraction, material: ExtractionInput, day: Day) -> None:
        """Believe the claims of one day."""
        said = {message.id: message for message in material.messages}
        for claim in extraction.claims:
            if claim.effect == "new" or (claim.effect == "supersedes" and claim.target):
                self._end(claim)
                self.held.append(held_from(claim, said.values(), number=len(self.held)))
            elif claim.effect == "fulfils":
                self._end(claim)

    def _end(self, claim: Claim) -> None:
        status = "fulfilled" if claim.effect == "fulfils" else "superseded"
        self.held = [
            replace(each, memory=replace(each.memory, status=status))
            if each.memory.id == claim.target
            else each
            for each in self.held
        ]

    @property
    def live(self) -> list[Held]:
        """What is believed now."""
        return [each for each in self.held if each.memory.status == "active"]


def held_from(claim: Claim, said: Iterable[Message], *, number: int) -> Held:
    """A claim, believed as it is."""
    messages = {message.id: message for message in said}
    memory = StoredBelief(
        id=MemoryId(ObjectId(f"memory {number}")),
        person=PERSON,
        kind=claim.kind,
        text=claim.text,
        language="",
        subject=claim.subject,
        key=claim.key,
        value=claim.value,
        pattern=claim.pattern,
        impact=claim.impact,
        happened_at=claim.happened_at,
        holds_until=claim.holds_until,
        due_at=claim.due_at,
        learned_at=0,
    )
    evidence = tuple(
        evidence_of(memory, quote.message, quote.text, messages.get(quote.message))
        for quote in claim.quotes
    )
    return Held(memory=memory, evidence=evidence)


def evidence_of(
    memory: StoredBelief, message: MessageId, quote: str, found: Message | None
) -> Evidence:
    """A quote as a row."""
    return Evidence(
        id=EvidenceId(f"{memory.id} {message}"),
        object_id=memory.id,
        message=message,
        version=1,
        quote=quote,
        author="",
        trust=found.trust if found else "person",
        signal="explicit",
        said_at=0,
        zone="UTC",
    )


def truth_held(life: Life, belief: Belief, *, number: int = 0) -> Held:
    """A belief of the truth, kept as it should be."""
    happened: Micros | None = None
    if belief.happened_on is not None:
        happened, _ = parse_timestamp(str(belief.happened_on), life.zone)
    memory = StoredBelief(
        id=MemoryId(ObjectId(f"{belief.id} {number}")),
        person=PERSON,
        kind=belief.kind,
        text=belief.texts[0],
        language=life.language,
        subject=belief.subject,
        key=belief.key,
        value=belief.values[0] if belief.values else "",
        pattern=belief.pattern,
        impact=belief.impact,
        happened_at=happened,
        due_at=belief.due_at,
        learned_at=0,
    )
    trust = {line.id: line.spoken.trust for line in life.lines}
    evidence = tuple(
        replace(
            evidence_of(memory, MessageId(quote.line), quote.text, None), trust=trust[quote.line]
        )
        for quote in belief.quotes
    )
    return Held(memory=memory, evidence=evidence)


async def lived(life: Life, model: LanguageModel, *, gate: Gate = as_read) -> Store:
    """A whole life, read a day at a time."""
    store = Store()
    for day in life.days:
        material = material_of(life, day, [each.memory for each in store.live])
        extraction = await extract_with_model(model, material)
        store.take(gate(extraction, material), material, day)
    return store
