"""Belief search: an in-memory index of one person's beliefs, searched like messages.

A belief is found by its own words, by the words for its key, and by its vector. Uses no database
and no model: beliefs and vectors are passed in.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from oldfriend.domain.belief_kinds import ATTRIBUTE_KINDS, list_kinds
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import EntityId, MemoryId, ObjectId
from oldfriend.domain.memories import Entity, EvidenceStats, MemoryKind, MemoryState
from oldfriend.domain.profile_attributes import (
    Profile,
    build_changes,
    build_profile,
    drop_long_overdue,
    is_own_safety,
    is_safety_of_other,
    select_lately,
)
from oldfriend.domain.relations import EntityResolver
from oldfriend.search.attribute_lookup import AttributeValues, collect_attribute_values
from oldfriend.search.belief_results import (
    BeliefSearchResult,
    ScoredBelief,
    ask_in_first_person,
    build_hit,
    build_reached_hit,
    build_safety_hits,
    build_value_hits,
    deduplicate,
    demote_current_values,
    drop_tentative,
    put_requested_first,
    sort_by_date,
    to_index_row,
)
from oldfriend.search.belief_weight import BeliefRanker
from oldfriend.search.entity_graph import EntityGraph, ReachedRelation, RelationFilter, is_current
from oldfriend.search.mention_index import MentionIndex
from oldfriend.search.message_search import search, search_with_undated
from oldfriend.search.name_index import NameIndex, list_possible_duplicates
from oldfriend.search.own_names import drop_own
from oldfriend.search.preference_intent import (
    PREFERENCE_CONFIDENCE,
    PreferenceIntent,
    find_preference_intent,
    is_matching_preference,
    is_opposite_belief,
)
from oldfriend.search.question_patterns import find_requested_attribute
from oldfriend.search.role_holders import NOBODY_CALLED, CalledByRole, RoleHolders, unite
from oldfriend.search.role_references import find_role_references
from oldfriend.search.score import VALUE_CONFIDENCE, Score
from oldfriend.search.scorers import Scorer, typed_decay
from oldfriend.search.search_index import PersonIndex
from oldfriend.search.subject_query import SubjectQuery, is_about_other
from oldfriend.search.synonyms import rewrite_idioms
from oldfriend.search.tense import TimeFrame
from oldfriend.search.time_query import is_recency_query, list_non_events
from oldfriend.search.types import Floats, SearchQuery, SearchResult

_EXPLICIT_KINDS: Final = frozenset(list_kinds(lambda kind: kind.is_found_on_request))
_OVERFETCH_FACTOR: Final = 2  # fetch this many times k before ranking by kind
_TYPICAL_BELIEF_BYTES: Final = 1_500  # bytes, without index and vector


class BeliefIndex:
    """Search index over one person's beliefs, live and ended."""

    __slots__ = (
        "_by_seq",
        "_changes",
        "_ended_seqs",
        "_entities",
        "_entity_names",
        "_explicit_seqs",
        "_graph",
        "_index",
        "_live",
        "_live_by_kind",
        "_mentions",
        "_name_index",
        "_other_seqs",
        "_own_seqs",
        "_profile",
        "_relation_seqs",
        "_role_holders",
        "_seq_by_id",
        "possible_duplicates",
    )

    def __init__(self) -> None:
        """Create an empty index."""
        self._index = PersonIndex.with_capacity(0)
        self._by_seq: dict[int, MemoryState] = {}
        self._seq_by_id: dict[ObjectId, int] = {}
        self._ended_seqs: set[int] = set()
        self._own_seqs: set[int] = set()  # about the person themself
        self._other_seqs: set[int] = set()  # about somebody or something else
        self._mentions = MentionIndex()
        self._live: tuple[MemoryState, ...] | None = None
        self._live_by_kind: dict[MemoryKind, list[MemoryState]] | None = None
        self._profile: Profile | None = None
        self._changes: tuple[MemoryState, ...] | None = None
        self._explicit_seqs: set[int] = set()
        self._relation_seqs: set[int] = set()  # triples: found via entities, not words
        self._graph: EntityGraph | None = None
        self._role_holders: RoleHolders | None = None
        self._entities: tuple[Entity, ...] = ()
        self._name_index = NameIndex(())
        self._entity_names = EntityResolver(())
        self.possible_duplicates: tuple[tuple[Entity, Entity], ...] = ()  # may be the same

    def __len__(self) -> int:
        return len(self._by_seq)

    @property
    def nbytes(self) -> int:
        """Approximate memory use in bytes."""
        return self._index.nbytes + len(self) * _TYPICAL_BELIEF_BYTES

    @property
    def entities(self) -> tuple[Entity, ...]:
        """The current entities, without merged ones."""
        return self._entities

    @entities.setter
    def entities(self, entities: Iterable[Entity]) -> None:
        """Set the entities; merged ones only resolve names to their canonical entity."""
        known = tuple(entities)
        self._entities = tuple(each for each in known if each.ended_at is None)
        self._name_index = NameIndex(self._entities)
        self._entity_names = EntityResolver(known)
        self.possible_duplicates = tuple(list_possible_duplicates(self._entities))
        self._graph = self._role_holders = None

    @property
    def graph(self) -> EntityGraph:
        """The relations, current and ended, of the entities and the person."""
        if self._graph is None:
            self._graph = EntityGraph(self._by_seq.values(), self._entity_names)
        return self._graph

    def list_named_entities(self, text: str, own_names: Collection[str]) -> tuple[Entity, ...]:
        """List the entities that a text names, without one that is the person."""
        own_names = self._drop_namesakes(own_names)
        return drop_own(self._name_index.list_named_entities(text), own_names)

    def _drop_namesakes(self, own_names: Collection[str]) -> tuple[str, ...]:
        """Return the person's names without those of somebody near them: a father and a son Tom."""
        others = self.role_holders.names if own_names else frozenset()
        return tuple(name for name in own_names if name.casefold() not in others)

    @property
    def role_holders(self) -> RoleHolders:
        """Who plays which role for the person or for somebody near them."""
        if self._role_holders is None:
            self._role_holders = RoleHolders(
                self.live, self._entities, self._entity_names, self._name_index
            )
        return self._role_holders

    def list_meant_entities(self, query: SearchQuery) -> tuple[Entity, ...]:
        """List whom a text names or calls by a role; whom it names come first."""
        named = self.list_named_entities(query.text, query.own_names)
        return unite((*named, *self.find_called_by(query).entities))

    def find_called_by(self, query: SearchQuery) -> CalledByRole:
        """Find whom a text calls by a role, also if it calls the person by their own name."""
        query = replace(query, own_names=self._drop_namesakes(query.own_names))
        named = self.list_named_entities(query.text, query.own_names)
        return self._find_called(ask_in_first_person(query, named)[0])

    def _find_called(self, query: SearchQuery) -> CalledByRole:
        references = find_role_references(query.text, query.language, self._name_index.spans)
        return self.role_holders.resolve(references) if references else NOBODY_CALLED

    @property
    def live(self) -> tuple[MemoryState, ...]:
        """The beliefs held now, in the order in which they were decided."""
        if self._live is None:
            all_known = (self._by_seq[seq] for seq in sorted(self._by_seq))
            self._live = tuple(each for each in all_known if each.memory.is_live)
        return self._live

    def list_live(self, kind: MemoryKind) -> list[MemoryState]:
        """List the live beliefs of one kind, in the order in which they were decided."""
        if self._live_by_kind is None:
            self._live_by_kind = {}
            for each in self.live:
                self._live_by_kind.setdefault(each.memory.kind, []).append(each)
        return self._live_by_kind.get(kind, [])

    def build_profile(self, now: Micros) -> Profile:
        """Build the profile of the person at a time."""
        if self._profile is None:
            self._profile = build_profile(self.live)
        return drop_long_overdue(self._profile, now)

    def list_changes(self, now: Micros) -> tuple[MemoryState, ...]:
        """List what happened to the person lately, began or ended, the newest first."""
        if self._changes is None:
            self._changes = build_changes(self._by_seq.values())
        return select_lately(self._changes, now)

    @property
    def known(self) -> Iterable[MemoryState]:
        """All beliefs in the index, live and ended."""
        return self._by_seq.values()

    def list_about(self, entity: EntityId, *, with_ended: bool = False) -> list[MemoryState]:
        """List the beliefs about an entity, without relations; only live ones by default."""
        seqs = sorted(self._mentions.list_mentions((), self._entity_names.list_merged_ids(entity)))
        known = (self._by_seq[seq] for seq in seqs)
        return [each for each in known if with_ended or each.memory.is_live]

    def list_safety_of(self, entities: Sequence[Entity]) -> list[MemoryState]:
        """List the live beliefs that say what these must not eat or must take."""
        ids = {each.id for each in entities}
        names = {name.casefold() for each in entities for name in (each.name, *each.aliases)}
        kinds = ATTRIBUTE_KINDS if entities else ()
        facts = (each for kind in kinds for each in self.list_live(kind))
        safety = [each for each in facts if is_safety_of_other(each.memory)]
        return [
            each
            for each in sorted(safety, key=lambda each: each.base_seq)
            if each.memory.key.rpartition(":")[0].casefold() in names
            or not ids.isdisjoint(map(self._entity_names.resolve, each.memory.entities))
        ]

    def list_own_safety(self) -> list[MemoryState]:
        """List the live beliefs that say what the person must not eat or must take."""
        return [each for each in self.live if is_own_safety(each.memory)]

    def get_vectors_by_text(self, beliefs: Iterable[MemoryState]) -> dict[str, Floats]:
        """Return the vectors of these beliefs by their texts, for those that have one."""
        wanted = [each.base_seq for each in beliefs]
        positions = np.flatnonzero(self._index.build_mask(wanted) & (self._index.vector_mask > 0))
        seqs, rows = (
            self._index.columns.seq[positions].tolist(),
            self._index.vectors.get_rows(positions),
        )
        return {self._by_seq[seq].memory.text: row for seq, row in zip(seqs, rows, strict=True)}

    def list_unembedded(self) -> list[MemoryId]:
        """List the beliefs without a vector."""
        has_vector = self._index.vector_mask > 0
        seqs = self._index.columns.seq[~has_vector].tolist()
        return [self._by_seq[seq].memory.id for seq in seqs]

    def upsert(self, known: Sequence[MemoryState], vectors: Mapping[MemoryId, Floats]) -> None:
        """Add beliefs, or replace them by their latest state."""
        self.remove([each.memory.id for each in known])
        if not known:
            return
        self._index.extend([to_index_row(each) for each in known if each.memory.kind != "triple"])
        for each in known:
            self._by_seq[each.base_seq] = each
            self._seq_by_id[each.memory.id] = each.base_seq
            if each.memory.ended_at is not None:
                self._ended_seqs.add(each.base_seq)
            if each.memory.kind == "triple":
                self._relation_seqs.add(each.base_seq)
                continue
            if each.memory.kind in _EXPLICIT_KINDS:
                self._explicit_seqs.add(each.base_seq)
            if is_about_other(each.memory):
                self._other_seqs.add(each.base_seq)
            elif each.memory.subject == "person":
                self._own_seqs.add(each.base_seq)
            self._mentions.add(each.base_seq, each.memory)
        self.set_vectors(vectors)
        self._invalidate_caches()

    def remove(self, objects: Iterable[ObjectId]) -> None:
        """Remove beliefs; those that are not in the index are ignored."""
        seqs = [self._seq_by_id.pop(each) for each in objects if each in self._seq_by_id]
        if seqs:
            self._index.remove([seq for seq in seqs if seq not in self._relation_seqs])
            for seq in seqs:
                del self._by_seq[seq]
            sets = (
                self._ended_seqs,
                self._own_seqs,
                self._other_seqs,
                self._explicit_seqs,
                self._relation_seqs,
            )
            for some in sets:
                some.difference_update(seqs)
            self._mentions.remove(seqs)
            self._invalidate_caches()

    def _invalidate_caches(self) -> None:
        self._live = self._live_by_kind = self._profile = self._graph = self._changes = None
        self._role_holders = None

    def update_stats(self, standings: Mapping[ObjectId, EvidenceStats]) -> None:
        """Update the evidence stats of beliefs."""
        for each, standing in standings.items():
            seq = self._seq_by_id.get(each)
            if seq is not None and self._by_seq[seq].stats != standing:
                self._by_seq[seq] = replace(self._by_seq[seq], stats=standing)
                self._invalidate_caches()

    def set_vectors(self, vectors: Mapping[MemoryId, Floats]) -> None:
        """Set the vectors of beliefs in the index; relations are not searched by vector."""
        indexed = [
            each
            for each in vectors
            if each in self._seq_by_id and self._seq_by_id[each] not in self._relation_seqs
        ]
        if indexed:
            seqs = [self._seq_by_id[each] for each in indexed]
            self._index.set_vectors(seqs, np.stack([vectors[each] for each in indexed]))

    def search(
        self,
        query: SearchQuery,
        k: int,
        *,
        kinds: Collection[MemoryKind] = (),
        scorer: Scorer = typed_decay,
    ) -> BeliefSearchResult:
        """Return the k beliefs that best answer a question, best first."""
        query = replace(query, own_names=self._drop_namesakes(query.own_names))
        named_entities = self.list_named_entities(query.text, query.own_names)
        query, names_asker = ask_in_first_person(query, named_entities)
        called = self._find_called(query)
        told = (name for names in query.names_by_role.values() for name in names)
        meant = unite(
            (*named_entities, *called.entities, *self.list_named_entities(", ".join(told), ()))
        )
        requested = find_requested_attribute(
            query.text, is_of_asker=names_asker and not named_entities
        )
        time_frame = TimeFrame(query, is_past=requested is not None and requested.is_past)
        if not self._by_seq:
            return BeliefSearchResult(
                named_entities=meant,
                called=called,
                requested=requested,
                is_before_now=time_frame.is_before_now,
            )
        subject = SubjectQuery(
            query.text,
            query.language,
            self.entities,
            has_explicit_time=time_frame.has_explicit_time,
            named_entities=named_entities,
            called=called,
            names_asker=names_asker,
        )
        values = collect_attribute_values(
            requested, self._filter_by_kind(kinds) if requested else (), time_frame, subject
        )
        values = values if requested else AttributeValues(matching=called.asked_names)
        preference = find_preference_intent(query.text)
        excluded = (
            self._list_excluded(time_frame, kinds)
            | self._list_off_subject(subject)
            | self._list_opposite_preferences(preference)
        )
        found = self._search_index(query, time_frame, excluded, _OVERFETCH_FACTOR * k)
        ranker = BeliefRanker(query, scorer)
        hits = self._score_hits(found, ranker, meant)
        hits += self._list_named_hits(meant, hits, excluded, ranker)
        if not kinds or "triple" in kinds:
            hits = self._add_reached(
                hits,
                self.list_reachable(
                    meant,
                    matches=time_frame.is_valid if time_frame.is_past else is_current,
                ),
                ranker,
            )
        if time_frame.is_before_now:
            hits = demote_current_values(hits)
        ranked = sorted(hits, key=lambda hit: (-hit.score.value, hit.known.base_seq))
        best = deduplicate(drop_tentative(ranked))
        if is_recency_query(query.text):
            best = sort_by_date(best, query.asked_at)
        is_liked = preference is not None and any(
            is_matching_preference(each.known.memory, each.score, preference, query.language)
            for each in best[:1]
        )
        confidence = (
            VALUE_CONFIDENCE if values.matching else PREFERENCE_CONFIDENCE if is_liked else 0.0
        )
        return BeliefSearchResult(
            hits=tuple(put_requested_first(values, best, ranker)[:k]),
            answer_probability=max(found.answer_probability, confidence),
            language=found.language,
            named_entities=meant,
            called=called,
            requested=requested,
            other_times=tuple(build_value_hits(values.other_times, ranker)),
            safety=tuple(build_safety_hits(query, self.list_safety_of(meant), ranker)),
            superseded=values.superseded,
            is_about_past=time_frame.is_past,
            is_before_now=time_frame.is_before_now,
        )

    def _search_index(
        self, query: SearchQuery, time_frame: TimeFrame, excluded: frozenset[int], limit: int
    ) -> SearchResult:
        """Search by words and vectors; of a named time, among what happened or has no date."""
        query = replace(
            query,
            text=rewrite_idioms(query.text),
            exclude=excluded,
            legacy_embeddings={},
            exact_cosines={},
        )
        if not time_frame.has_explicit_time:
            return search(self._index, query, limit)
        query = replace(query, exclude=excluded | list_non_events(query, self._by_seq.values()))
        return search_with_undated(self._index, query, limit, self._is_durable)

    def list_reachable(
        self, named_entities: Sequence[Entity], *, matches: RelationFilter = is_current
    ) -> tuple[ReachedRelation, ...]:
        """List the relations that are at most two hops away from these entities."""
        return (
            self.graph.walk([each.id for each in named_entities], matches=matches)
            if named_entities
            else ()
        )

    def _add_reached(
        self, hits: Sequence[ScoredBelief], reached: Sequence[ReachedRelation], ranker: BeliefRanker
    ) -> list[ScoredBelief]:
        """Add the reached relations that were not found otherwise."""
        found = {hit.known.base_seq for hit in hits}
        texts = {hit.known.memory.text for hit in hits}
        return [
            *hits,
            *(
                build_reached_hit(each, self._entity_names.find_name(each.via), ranker)
                for each in reached
                if each.known.base_seq not in found and each.known.memory.text not in texts
            ),
        ]

    def _is_durable(self, seq: int) -> bool:
        return self._by_seq[seq].memory.kind in ATTRIBUTE_KINDS

    def _filter_by_kind(self, kinds: Collection[MemoryKind]) -> list[MemoryState]:
        """List all beliefs, live and ended, of these kinds; of any kind if `kinds` is empty."""
        return [each for each in self._by_seq.values() if not kinds or each.memory.kind in kinds]

    def _list_excluded(
        self, time_frame: TimeFrame, kinds: Collection[MemoryKind]
    ) -> frozenset[int]:
        if not time_frame.is_past and not kinds:
            return frozenset(self._ended_seqs | self._explicit_seqs)
        excluded = frozenset[int]() if kinds else frozenset(self._explicit_seqs)
        return excluded | frozenset(
            seq
            for seq, known in self._by_seq.items()
            if not time_frame.is_valid(known) or (kinds and known.memory.kind not in kinds)
        )

    def _list_off_subject(self, subject: SubjectQuery) -> set[int]:
        """List the beliefs that are not about the subject of the question."""
        doubtful: set[int] = set()
        excluded: set[int] = set()
        if subject.is_about_self:
            doubtful |= self._other_seqs
        if subject.is_name_query:
            doubtful |= self._own_seqs
        elif subject.is_about_someone:
            mentioning = self._mentions.list_mentions(subject.required_words, subject.entity_ids)
            excluded |= self._own_seqs - mentioning
            doubtful |= self._own_seqs & mentioning
        return excluded | {
            seq for seq in doubtful if not subject.is_match(self._by_seq[seq].memory)
        }

    def _list_opposite_preferences(self, intent: PreferenceIntent | None) -> set[int]:
        """List the beliefs that say the opposite of the preference that is asked for."""
        if intent is None:
            return set()
        return {
            seq for seq in self._own_seqs if is_opposite_belief(self._by_seq[seq].memory, intent)
        }

    def _score_hits(
        self, found: SearchResult, ranker: BeliefRanker, named_entities: Sequence[Entity]
    ) -> list[ScoredBelief]:
        asked_about = {each.id for each in named_entities}
        hits: list[ScoredBelief] = []
        for hit in found.hits:
            known = self._by_seq[hit.seq]
            is_named = not asked_about.isdisjoint(known.memory.entities)
            hits.append(build_hit(known, hit.score, ranker, is_named=is_named))
        return hits

    def _list_named_hits(
        self,
        named_entities: Sequence[Entity],
        hits: Sequence[ScoredBelief],
        excluded: Collection[int],
        ranker: BeliefRanker,
    ) -> list[ScoredBelief]:
        """Build hits for beliefs about the named entities that the search has not found."""
        found = {hit.known.base_seq for hit in hits}.union(excluded)
        about = {each.base_seq: each for one in named_entities for each in self.list_about(one.id)}
        return [
            build_hit(known, Score(), ranker, is_named=True)
            for base, known in about.items()
            if base not in found
        ]
