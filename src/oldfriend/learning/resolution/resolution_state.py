"""Resolution state: the known beliefs and the decisions made so far for one segment.

There is one decision per object, however many claims touch it; each claim sees the effects of the
ones before it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import InitVar, dataclass, field, replace
from typing import Literal, TypeAlias

from oldfriend.domain.belief_kinds import ATTRIBUTE_KINDS, KINDS_BY_NAME
from oldfriend.domain.clock import Micros, get_coarser, get_credible_time
from oldfriend.domain.ids import EntityId, MemoryId, MessageId, ObjectId, PersonId, new_id
from oldfriend.domain.memories import (
    Cause,
    Entity,
    EvidenceStance,
    EvidenceStats,
    JournalObject,
    JournalOp,
    MemoryKind,
    MemoryState,
    ObjectLink,
    Status,
    StoredBelief,
)
from oldfriend.domain.messages import Message
from oldfriend.domain.relations import EntityResolver
from oldfriend.learning.extraction import Claim, Quote
from oldfriend.memory.evidence import NewEvidence
from oldfriend.memory.judged_beliefs import JudgedBelief
from oldfriend.search.name_index import NamedIn

MIN_CONFIDENCE = 0.6
"""Below this confidence a statement must be repeated before it counts."""

ClaimMatcher: TypeAlias = Callable[[Claim, StoredBelief], bool]
"""Whether a claim says what a memory says."""

StatementParser: TypeAlias = Callable[[StoredBelief], tuple[str, str] | None]
"""The key and value of a memory that is one plain statement about the person; else None."""
NewRoleParser: TypeAlias = Callable[[StoredBelief], str]
"""What a memory says that somebody has become; "" for anything else."""
TerminationBuilder: TypeAlias = Callable[[Claim, str], Claim | None]
"""The claim that something is over, in a language; None if the language has no rule for it."""

ResolutionRefusal: TypeAlias = str
"""Why a claim was refused, such as "not known" or "contradicts its" and a kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """Resolution: the decision about one object, and its evidence; without an op, evidence only."""

    after: JournalObject
    op: JournalOp | None
    base: int
    evidence: tuple[NewEvidence, ...] = ()
    ending_evidence: tuple[NewEvidence, ...] = ()  # evidence for something else that ends this

    @property
    def causes(self) -> tuple[Cause, ...]:
        """The message versions that the decision rests on."""
        evidence = (
            self.ending_evidence if self.ending_evidence and self.op != "learned" else self.evidence
        )
        named = (Cause(message=each.source.id, version=each.source.version) for each in evidence)
        return tuple(dict.fromkeys(named))


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolutionContext:
    """Resolution context: the person, the time, the messages, and past decisions."""

    person: PersonId
    excluded_names: frozenset[str]  # of person and companion, and rejected ones: no entities
    language: str
    now: Micros
    messages: Mapping[MessageId, Message]
    rejected: tuple[StoredBelief, ...] = ()  # what the person has rejected
    merged: tuple[StoredBelief, ...] = ()  # what was merged into other beliefs
    judged: tuple[JudgedBelief, ...] = ()  # what the person has corrected or rejected of it before
    unconfirmed: tuple[MemoryState, ...] = ()  # what waits for the person's word
    stale: frozenset[ObjectId] = frozenset()  # beliefs that rest only on what is being read again
    merged_entities: tuple[Entity, ...] = ()  # entities that were merged into others


@dataclass(slots=True)
class ResolutionState:
    """Resolution state: what is known while a segment is resolved, and what was decided."""

    context: ResolutionContext
    believed: InitVar[Iterable[MemoryState]]
    entities: dict[EntityId, Entity]
    bases: Mapping[EntityId, int]
    is_same: ClaimMatcher
    is_by_model: bool = False  # whether a model made the claims
    parse_plain_statement: StatementParser = lambda _memory: None
    parse_new_role: NewRoleParser = lambda _memory: ""
    build_termination: TerminationBuilder = lambda _claim, _language: None
    decisions: dict[ObjectId, Resolution] = field(default_factory=dict)
    rejected: Counter[ResolutionRefusal] = field(default_factory=Counter)
    known: dict[MemoryId, MemoryState] = field(init=False, default_factory=dict)
    _names: EntityResolver | None = None
    _by_kind: dict[MemoryKind, dict[MemoryId, MemoryState]] = field(
        init=False, default_factory=dict
    )

    def __post_init__(self, believed: Iterable[MemoryState]) -> None:
        """Index the known beliefs by id and kind, because each claim looks them up."""
        for each in believed:
            self.known[each.memory.id] = each
            self._by_kind.setdefault(each.memory.kind, {})[each.memory.id] = each

    @property
    def names(self) -> EntityResolver:
        """The resolver of all names, including those merged in this segment."""
        if self._names is None:
            self._names = EntityResolver((*self.context.merged_entities, *self.entities.values()))
        return self._names

    def is_unread_again(self, known: MemoryState) -> bool:
        """Return whether a belief rests only on an earlier reading, and is not met again so far."""
        return known.memory.id in self.context.stale and known.memory.id not in self.decisions

    def list_live(self, kind: MemoryKind) -> list[MemoryState]:
        """Return the current beliefs of a kind, oldest first."""
        return [each for each in self.list_by_kind(kind) if each.memory.ended_at is None]

    def list_by_kind(self, kind: MemoryKind) -> list[MemoryState]:
        """Return the current and superseded beliefs of a kind."""
        return [
            each
            for each in self._by_kind.get(kind, {}).values()
            if each.memory.ended_at is None or each.memory.status == "superseded"
        ]

    def learn(
        self,
        claim: Claim,
        *,
        status: Status | None = None,
        holds_until: Micros | None = None,
        is_over: bool = False,
        supersedes: StoredBelief | None = None,
        entity_ids: tuple[EntityId, ...] | None = None,
        op: JournalOp = "learned",
    ) -> StoredBelief:
        """Learn a new belief; ``entities`` overrides the names found in its text."""
        now = self.context.now
        if status is None and claim.kind == "fact" and (claim.holds_until or now) < now:
            status, is_over = "superseded", True  # said long ago, and to end by now
        relations = (
            () if supersedes is None else (ObjectLink(kind="supersedes", target=supersedes.id),)
        )
        memory = StoredBelief(
            id=MemoryId(ObjectId(new_id(now))),
            person=self.context.person,
            kind=claim.kind,
            text=claim.text,
            language=self.get_language(claim),
            subject=claim.subject,
            trust=self.get_trust(claim),
            key=claim.key,
            value=claim.value,
            pattern=claim.pattern,
            impact=claim.impact,
            tags=claim.tags,
            relational=claim.relational,
            arousal=claim.arousal,
            cues=claim.cues,
            importance=claim.importance,
            status=status or self.get_initial_status(claim),
            happened_at=claim.happened_at,
            happened_until=claim.happened_until,
            holds_from=claim.holds_from
            or (None if supersedes is None else self.get_said_at(claim)),
            holds_until=holds_until or claim.holds_until,
            due_at=claim.due_at,
            grain=claim.grain,
            zone=self.get_zone(claim),
            entities=self.list_mentioned_entities(claim) if entity_ids is None else entity_ids,
            relations=relations,
            learned_at=now,
            ended_at=now if is_over else None,
        )
        self._record(memory, op, 0, self.build_evidence(claim))
        said_at = self.get_said_at(claim)
        stats = EvidenceStats(
            strength=1.0,
            confidence=claim.confidence,
            times_seen=1,
            first_seen=said_at,
            last_seen=said_at,
        )
        self._set_known(MemoryState(memory=memory, stats=stats, base_seq=0))
        return memory

    def _set_known(self, known: MemoryState) -> None:
        """Make a belief's new state visible to the next claims."""
        self.known[known.memory.id] = known
        self._by_kind.setdefault(known.memory.kind, {})[known.memory.id] = known

    def add_evidence(
        self, known: MemoryState, claim: Claim, *, stance: EvidenceStance = "supports"
    ) -> None:
        """Add a claim's quotes as evidence for or against a belief."""
        self._record(known.memory, None, known.base_seq, self.build_evidence(claim, stance=stance))

    def change(
        self,
        known: MemoryState,
        after: StoredBelief,
        op: JournalOp,
        *,
        ending_evidence: tuple[NewEvidence, ...] = (),
    ) -> None:
        """Record a decision about a known belief."""
        if after != known.memory:
            self._record(after, op, known.base_seq, (), ending_evidence=ending_evidence)
            self._set_known(replace(known, memory=after))

    def end(
        self,
        known: MemoryState,
        status: Status,
        op: JournalOp,
        claim: Claim,
        *,
        until: Micros | None,
    ) -> None:
        """End a belief because of a claim; it held until then."""
        is_stated = until is not None and until in {claim.holds_from, claim.holds_until}
        grain = get_coarser(known.memory.grain, claim.grain) if is_stated else known.memory.grain
        ended = replace(
            known.memory,
            status=status,
            ended_at=self.context.now,
            holds_until=known.memory.holds_until if until is None else until,
            grain=grain,
        )
        self.change(known, ended, op, ending_evidence=self.build_evidence(claim))

    def set_entity(
        self, entity: Entity, op: JournalOp | None, evidence: Iterable[NewEvidence] = ()
    ) -> None:
        """Record a decision about an entity, or only add evidence."""
        self._record(entity, op, self.bases.get(entity.id, 0), tuple(evidence))
        self.entities[entity.id] = entity
        self._names = None

    def build_evidence(
        self, claim: Claim, *, stance: EvidenceStance = "supports"
    ) -> tuple[NewEvidence, ...]:
        """Build evidence from the quotes of a claim."""
        return tuple(
            NewEvidence(
                source=self.context.messages[quote.message],
                quote=quote.text,
                stance=stance,
                signal=claim.signal,
                confidence=claim.confidence,
            )
            for quote in claim.quotes
        )

    def build_quote_evidence(self, quotes: Iterable[Quote]) -> tuple[NewEvidence, ...]:
        """Build evidence from quotes."""
        return tuple(
            NewEvidence(source=self.context.messages[quote.message], quote=quote.text)
            for quote in quotes
        )

    def get_said_at(self, claim: Claim) -> Micros:
        """Return when a claim was last said."""
        times = (self.context.messages[quote.message].at for quote in claim.quotes)
        return max(get_credible_time(each, self.context.now) for each in times)

    def get_zone(self, claim: Claim) -> str:
        """Return the time zone of a claim's first quote, in which its times are read."""
        return self.context.messages[claim.quotes[0].message].zone

    def get_language(self, claim: Claim) -> str:
        """Return the language of a claim's first quote."""
        return self.context.messages[claim.quotes[0].message].language or self.context.language

    def get_trust(self, claim: Claim) -> Literal["person", "companion", "other", "tool", "outside"]:
        """Return the best trust class among a claim's quotes."""
        classes = {self.context.messages[quote.message].trust for quote in claim.quotes}
        if KINDS_BY_NAME[claim.kind].is_companions:
            return "companion"
        order = ("person", "tool", "other", "companion", "outside")
        return next(each for each in order if each in classes)

    def get_initial_status(self, claim: Claim) -> Status:
        """Return whether a new belief is active at once."""
        is_tentative = claim.confidence < MIN_CONFIDENCE and claim.kind in ATTRIBUTE_KINDS
        return "tentative" if is_tentative else "active"

    def list_mentioned_entities(self, claim: Claim) -> tuple[EntityId, ...]:
        """Return the entities whose names appear in a claim's text."""
        text = NamedIn(claim.text, self.get_language(claim))
        return tuple(
            entity.id
            for entity in self.entities.values()
            if entity.ended_at is None
            and any(name in text for name in (entity.name, *entity.aliases))
        )

    def _record(
        self,
        after: JournalObject,
        op: JournalOp | None,
        base: int,
        evidence: tuple[NewEvidence, ...],
        *,
        ending_evidence: tuple[NewEvidence, ...] = (),
    ) -> None:
        """Record a decision; merge it into an earlier one about the same object."""
        before = self.decisions.get(after.id)
        if before is None:
            self.decisions[after.id] = Resolution(
                after=after, op=op, base=base, evidence=evidence, ending_evidence=ending_evidence
            )
            return
        is_new = before.op in {"learned", "proposed"}
        self.decisions[after.id] = Resolution(
            after=before.after if op is None else after,
            op=before.op if is_new or op is None else op,
            base=before.base,
            evidence=(*before.evidence, *evidence),
            ending_evidence=(*before.ending_evidence, *ending_evidence),
        )
