"""What is decided while a segment is being read? What is known, and what came of it so far.

One decision an object, however many claims touch it; each claim sees what the ones before it
have led to.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import InitVar, dataclass, field, replace
from typing import Literal, TypeAlias

from oldfriend.background.extraction import Claim, Quote
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import EntityId, MemoryId, MessageId, ObjectId, PersonId, new_id
from oldfriend.domain.memories import (
    Believed,
    Cause,
    ChangeOp,
    Entity,
    Known,
    Memory,
    MemoryKind,
    Relation,
    Stance,
    Standing,
    Status,
)
from oldfriend.domain.messages import Message
from oldfriend.domain.ties import Names
from oldfriend.memory.evidence import Words

SURE_ENOUGH = 0.6
"""Below, something must be said again before it counts (ACCEPTANCE E9)."""

Same: TypeAlias = Callable[[Claim, Memory], bool]
"""Whether a claim says what a memory says."""

Stated: TypeAlias = Callable[[Memory], tuple[str, str] | None]
"""The key and value of what a memory says of the person in plain words, where it says no more."""
Began: TypeAlias = Callable[[Memory], str]
"""What a memory says that somebody has become; "" for anything else."""
Over: TypeAlias = Callable[[Claim, str], Claim | None]
"""That something holds no more, in a language; None where nobody knows how that is said."""

Refusal = Literal[
    "rejected by the person", "overruled by the person", "not known", "contradicts its opinion"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What was decided about one object, and the words for it; without an op, words only."""

    after: Believed
    op: ChangeOp | None
    base: int
    words: tuple[Words, ...] = ()
    ended_by: tuple[Words, ...] = ()  # that speak for something else, and so put an end to it

    @property
    def causes(self) -> tuple[Cause, ...]:
        """The message versions that it rests on."""
        words = self.ended_by if self.ended_by and self.op != "learned" else self.words
        named = (Cause(message=each.source.id, version=each.source.version) for each in words)
        return tuple(dict.fromkeys(named))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Whose life it is, when it is thought about, and what was said."""

    person: PersonId
    names: frozenset[str]  # of the person, the companion, and nobody: no entities of that life
    language: str
    now: Micros
    messages: Mapping[MessageId, Message]
    rejected: tuple[Memory, ...] = ()  # what the person has said is not so
    merged: tuple[Memory, ...] = ()  # what is believed under something else
    fading: frozenset[ObjectId] = frozenset()  # rests on nothing but what is being read anew
    merged_names: tuple[Entity, ...] = ()  # that mean somebody else by now


@dataclass(slots=True)
class Deliberation:
    """What is known while one segment is thought about, and what was decided."""

    scene: Scene
    believed: InitVar[Iterable[Known]]
    entities: dict[EntityId, Entity]
    bases: Mapping[EntityId, int]
    same: Same
    stated: Stated = lambda _memory: None
    began: Began = lambda _memory: ""
    over: Over = lambda _claim, _language: None
    decided: dict[ObjectId, Decision] = field(default_factory=dict)
    refused: Counter[Refusal] = field(default_factory=Counter)
    known: dict[MemoryId, Known] = field(init=False, default_factory=dict)
    _names: Names | None = None
    _by_kind: dict[MemoryKind, dict[MemoryId, Known]] = field(init=False, default_factory=dict)

    def __post_init__(self, believed: Iterable[Known]) -> None:
        """Each claim asks for what is known of its kind: it stands ready."""
        for each in believed:
            self.known[each.memory.id] = each
            self._by_kind.setdefault(each.memory.kind, {})[each.memory.id] = each

    @property
    def names(self) -> Names:
        """Whom all names mean by now, also those that were merged in this very talk."""
        if self._names is None:
            self._names = Names((*self.scene.merged_names, *self.entities.values()))
        return self._names

    def live(self, kind: MemoryKind) -> list[Known]:
        """What is believed of a kind by now, oldest first."""
        return [each for each in self.of_kind(kind) if each.memory.ended_at is None]

    def of_kind(self, kind: MemoryKind) -> list[Known]:
        """What is believed of a kind by now, or was so once."""
        return [
            each
            for each in self._by_kind.get(kind, {}).values()
            if each.memory.ended_at is None or each.memory.status == "superseded"
        ]

    def learn(
        self, claim: Claim, *, status: Status | None = None, holds_until: Micros | None = None,
        is_over: bool = False, supersedes: Memory | None = None,
        entities: tuple[EntityId, ...] | None = None,
    ) -> Memory:  # fmt: skip
        """Believe something new; ``entities`` where it is not told by the names in its text."""
        now = self.scene.now
        if status is None and claim.kind == "fact" and (claim.holds_until or now) < now:
            status, is_over = "superseded", True  # said long ago of what was to end by now
        relations = (
            () if supersedes is None else (Relation(kind="supersedes", other=supersedes.id),)
        )
        memory = Memory(
            id=MemoryId(ObjectId(new_id(now))), person=self.scene.person, kind=claim.kind,
            text=claim.text, language=self.language_of(claim), subject=claim.subject,
            trust=self.trust_of(claim), key=claim.key, value=claim.value, pattern=claim.pattern,
            impact=claim.impact, tags=claim.tags, relational=claim.relational,
            arousal=claim.arousal, cues=claim.cues,
            importance=claim.importance, status=status or self.first_status(claim),
            happened_at=claim.happened_at, happened_until=claim.happened_until,
            holds_from=claim.holds_from or (None if supersedes is None else self.heard_at(claim)),
            holds_until=holds_until or claim.holds_until, due_at=claim.due_at,
            entities=self.named_in(claim) if entities is None else entities,
            relations=relations, learned_at=now,
            ended_at=now if is_over else None,
        )  # fmt: skip
        self._note(memory, "learned", 0, self.words_of(claim))
        heard_at = self.heard_at(claim)
        standing = Standing(
            strength=1.0, confidence=claim.confidence, times_seen=1, first_seen=heard_at,
            last_seen=heard_at,
        )  # fmt: skip
        self._know(Known(memory=memory, standing=standing, base=0))
        return memory

    def _know(self, known: Known) -> None:
        """Let the next claims see it so."""
        self.known[known.memory.id] = known
        self._by_kind.setdefault(known.memory.kind, {})[known.memory.id] = known

    def bear(self, known: Known, claim: Claim, *, stance: Stance = "supports") -> None:
        """Add a claim's words to what supports a belief, or speaks against it."""
        self._note(known.memory, None, known.base, self.words_of(claim, stance=stance))

    def change(
        self, known: Known, after: Memory, op: ChangeOp, *, ended_by: tuple[Words, ...] = ()
    ) -> None:
        """Decide about something known."""
        if after != known.memory:
            self._note(after, op, known.base, (), ended_by=ended_by)
            self._know(replace(known, memory=after))

    def end(
        self, known: Known, status: Status, op: ChangeOp, claim: Claim, *, until: Micros | None
    ) -> None:
        """Believe no longer that something is so, as a claim has it; it was, until then."""
        ended = replace(
            known.memory, status=status, ended_at=self.scene.now,
            holds_until=known.memory.holds_until if until is None else until,
        )  # fmt: skip
        self.change(known, ended, op, ended_by=self.words_of(claim))

    def set_entity(self, entity: Entity, op: ChangeOp | None, words: Iterable[Words] = ()) -> None:
        """Decide about an entity, or only add words to what speaks of it."""
        self._note(entity, op, self.bases.get(entity.id, 0), tuple(words))
        self.entities[entity.id] = entity
        self._names = None

    def words_of(self, claim: Claim, *, stance: Stance = "supports") -> tuple[Words, ...]:
        """The words of a claim, as evidence."""
        return tuple(
            Words(
                source=self.scene.messages[quote.message], quote=quote.text, stance=stance,
                signal=claim.signal, confidence=claim.confidence,
            )
            for quote in claim.quotes
        )  # fmt: skip

    def quoted(self, quotes: Iterable[Quote]) -> tuple[Words, ...]:
        """Quotes, as evidence."""
        return tuple(
            Words(source=self.scene.messages[quote.message], quote=quote.text) for quote in quotes
        )

    def heard_at(self, claim: Claim) -> Micros:
        """When a claim was last said."""
        return max(self.scene.messages[quote.message].at for quote in claim.quotes)

    def language_of(self, claim: Claim) -> str:
        """The language of the words behind a claim."""
        return self.scene.messages[claim.quotes[0].message].language or self.scene.language

    def trust_of(self, claim: Claim) -> Literal["person", "companion", "other", "tool", "outside"]:
        """The best class among the words behind a claim."""
        classes = {self.scene.messages[quote.message].trust for quote in claim.quotes}
        if claim.kind == "opinion":
            return "companion"
        order = ("person", "tool", "other", "companion", "outside")
        return next(each for each in order if each in classes)

    def first_status(self, claim: Claim) -> Status:
        """Whether something new is believed at once."""
        is_tentative = claim.confidence < SURE_ENOUGH and claim.kind in {"fact", "preference"}
        return "tentative" if is_tentative else "active"

    def named_in(self, claim: Claim) -> tuple[EntityId, ...]:
        """The entities whose names stand in a claim's text."""
        text = claim.text.casefold()
        return tuple(
            entity.id
            for entity in self.entities.values()
            if entity.ended_at is None
            and any(name.casefold() in text for name in (entity.name, *entity.aliases))
        )

    def _note(
        self, after: Believed, op: ChangeOp | None, base: int, words: tuple[Words, ...], *,
        ended_by: tuple[Words, ...] = (),
    ) -> None:  # fmt: skip
        """Keep a decision; one about the same object becomes part of it."""
        before = self.decided.get(after.id)
        if before is None:
            self.decided[after.id] = Decision(
                after=after, op=op, base=base, words=words, ended_by=ended_by
            )
            return
        learned = before.op == "learned"
        self.decided[after.id] = Decision(
            after=before.after if op is None else after,
            op=before.op if learned or op is None else op,
            base=before.base,
            words=(*before.words, *words),
            ended_by=(*before.ended_by, *ended_by),
        )
