"""Which beliefs bear on a question? The same search as for messages, weighed by kind and standing.

A belief is found by its own words, the words for what it is about, and its meaning. Knows no
database and no model: beliefs and vectors are given.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import EntityId, MemoryId, ObjectId
from oldfriend.domain.memories import Entity, Known, MemoryKind, Standing
from oldfriend.domain.ties import Names as Meant
from oldfriend.memory.profile import Profile, as_of, lasting_profile_of
from oldfriend.memory.search.asked_for import ASKED_FOR, SURE, Values, values_of
from oldfriend.memory.search.believed import BeliefHit, FoundBeliefs, surest
from oldfriend.memory.search.finding import search
from oldfriend.memory.search.graph import Fits, Graph, Reached, holds_now
from oldfriend.memory.search.imprint import imprint_of
from oldfriend.memory.search.index import PersonIndex
from oldfriend.memory.search.latest import asks_for_the_latest
from oldfriend.memory.search.liking import LIKED, Liking, is_meant, liking_in, tells_otherwise
from oldfriend.memory.search.matters import as_meant, words_to_find
from oldfriend.memory.search.mentioning import Mentions
from oldfriend.memory.search.names import Names, perhaps_same
from oldfriend.memory.search.ordering import by_date, each_once, without_what_came_after
from oldfriend.memory.search.past import Times
from oldfriend.memory.search.questions import matter_of
from oldfriend.memory.search.scorers import Scorer, typed_decay
from oldfriend.memory.search.then import not_of_then
from oldfriend.memory.search.values import Floats, Found, IndexRow, Question, Reason
from oldfriend.memory.search.weighing import Scale
from oldfriend.memory.search.whenever import HOLDING, search_whenever
from oldfriend.memory.search.whose import Whose, is_of_another

_BY_THE_WAY: Final[frozenset[MemoryKind]] = frozenset({"opinion"})
"""What comes to mind by its topic, and is found as an answer only where one asks for the kind."""
_LOOKED_AT: Final = 2  # so many times as many as are wanted are weighed by kind
_ANCHOR: Final = 0.5  # how likely at least what is about somebody answers a question about them
_USUAL_WEIGHT: Final = 1_500  # bytes of a belief itself
BY_OWN_NAME: Final = Reason(cause="mentions", strength=0.3)


class BeliefIndex:
    """One person's beliefs, ready to be searched: what is live, and what was so once."""

    __slots__ = (
        "_by_seq", "_by_the_way", "_ended", "_entities", "_graph", "_index", "_live", "_live_of",
        "_meant", "_mentions", "_names", "_of_others", "_own", "_profile", "_seq_of", "_ties",
        "unsure",
    )  # fmt: skip

    def __init__(self) -> None:
        """Begin with none."""
        self._index = PersonIndex.with_room(0)
        self._by_seq: dict[int, Known] = {}
        self._seq_of: dict[ObjectId, int] = {}
        self._ended: set[int] = set()
        self._own: set[int] = set()  # what is about the person themself, …
        self._of_others: set[int] = set()  # … and about others
        self._mentions = Mentions()
        self._live: tuple[Known, ...] | None = None
        self._live_of: dict[MemoryKind, list[Known]] | None = None
        self._profile: Profile | None = None
        self._by_the_way: set[int] = set()
        self._ties: set[int] = set()  # found over whom they tie, not by their words
        self._graph: Graph | None = None
        self._entities: tuple[Entity, ...] = ()
        self._names = Names(())
        self._meant = Meant(())
        self.unsure: tuple[tuple[Entity, Entity], ...] = ()  # of whom it is not known

    def __len__(self) -> int:
        return len(self._by_seq)

    @property
    def nbytes(self) -> int:
        """How much memory they take, nearly."""
        return self._index.nbytes + len(self) * _USUAL_WEIGHT

    @property
    def entities(self) -> tuple[Entity, ...]:
        """Whom and what is known by name now."""
        return self._entities

    @entities.setter
    def entities(self, entities: Iterable[Entity]) -> None:
        """Know these by name; those that were merged tell whom their names mean."""
        known = tuple(entities)
        self._entities = tuple(each for each in known if each.ended_at is None)
        self._names = Names(self._entities)
        self._meant = Meant(known)
        self.unsure = tuple(perhaps_same(self._entities))
        self._graph = None

    @property
    def graph(self) -> Graph:
        """How they are or were tied to each other and to the person."""
        if self._graph is None:
            self._graph = Graph(self._by_seq.values(), self._meant)
        return self._graph

    def named_in(self, text: str) -> tuple[Entity, ...]:
        """Those who are named in a text."""
        return self._names.named_in(text)

    @property
    def live(self) -> tuple[Known, ...]:
        """What is believed now, in the order in which it was decided."""
        if self._live is None:
            all_known = (self._by_seq[seq] for seq in sorted(self._by_seq))
            self._live = tuple(each for each in all_known if each.memory.is_live)
        return self._live

    def live_of(self, kind: MemoryKind) -> list[Known]:
        """What is believed now of one kind, in that order."""
        if self._live_of is None:
            self._live_of = {}
            for each in self.live:
                self._live_of.setdefault(each.memory.kind, []).append(each)
        return self._live_of.get(kind, [])

    def profile(self, now: Micros) -> Profile:
        """What of it belongs to the picture of the person at a moment."""
        if self._profile is None:
            self._profile = lasting_profile_of(self.live)
        return as_of(self._profile, now)

    @property
    def known(self) -> Iterable[Known]:
        """Everything that is here, also what was so once."""
        return self._by_seq.values()

    def about(self, entity: EntityId) -> list[Known]:
        """What is believed now about somebody or something with a name, beside ties."""
        about = sorted(self._mentions.of((), self._meant.names_of(entity)))
        known = (self._by_seq[seq] for seq in about)
        return [each for each in known if each.memory.is_live]

    def meanings(self, some: Iterable[Known]) -> dict[str, Floats]:
        """The vectors of some of them, where they have one, by their texts."""
        wanted = [each.base for each in some]
        places = np.flatnonzero(self._index.positions_mask(wanted) & (self._index.understood > 0))
        seqs, rows = self._index.columns.seq[places].tolist(), self._index.vectors.at(places)
        return {self._by_seq[seq].memory.text: row for seq, row in zip(seqs, rows, strict=True)}

    def lacking(self) -> list[MemoryId]:
        """Those without a vector."""
        is_there = self._index.understood > 0
        without = self._index.columns.seq[~is_there].tolist()
        return [self._by_seq[seq].memory.id for seq in without]

    def put(self, known: Sequence[Known], vectors: Mapping[MemoryId, Floats]) -> None:
        """Add beliefs, or what was decided about them last."""
        self.remove([each.memory.id for each in known])
        if not known:
            return
        self._index.extend([_row_of(each) for each in known if each.memory.kind != "triple"])
        for each in known:
            self._by_seq[each.base] = each
            self._seq_of[each.memory.id] = each.base
            if each.memory.ended_at is not None:
                self._ended.add(each.base)
            if each.memory.kind == "triple":
                self._ties.add(each.base)
                continue
            if each.memory.kind in _BY_THE_WAY:
                self._by_the_way.add(each.base)
            if is_of_another(each.memory):
                self._of_others.add(each.base)
            elif each.memory.subject == "person":
                self._own.add(each.base)
            self._mentions.put(each.base, each.memory)
        self.set_vectors(vectors)
        self._look_anew()

    def remove(self, objects: Iterable[ObjectId]) -> None:
        """Take beliefs out, where they are here."""
        seqs = [self._seq_of.pop(each) for each in objects if each in self._seq_of]
        if seqs:
            self._index.remove([seq for seq in seqs if seq not in self._ties])
            for seq in seqs:
                del self._by_seq[seq]
            sets = (self._ended, self._own, self._of_others, self._by_the_way, self._ties)
            for some in sets:
                some.difference_update(seqs)
            self._mentions.remove(seqs)
            self._look_anew()

    def _look_anew(self) -> None:
        self._live = self._live_of = self._profile = self._graph = None

    def stand(self, standings: Mapping[ObjectId, Standing]) -> None:
        """Let beliefs stand as their evidence now makes them."""
        for each, standing in standings.items():
            seq = self._seq_of.get(each)
            if seq is not None and self._by_seq[seq].standing != standing:
                self._by_seq[seq] = replace(self._by_seq[seq], standing=standing)
                self._look_anew()

    def set_vectors(self, vectors: Mapping[MemoryId, Floats]) -> None:
        """Let beliefs be found by what they mean, too."""
        here = [
            each
            for each in vectors
            if each in self._seq_of and self._seq_of[each] not in self._ties
        ]
        if here:
            seqs = [self._seq_of[each] for each in here]
            self._index.set_vectors(seqs, np.stack([vectors[each] for each in here]))

    def search(
        self, question: Question, k: int, *, kinds: Collection[MemoryKind] = (),
        scorer: Scorer = typed_decay,
    ) -> FoundBeliefs:  # fmt: skip
        """The k beliefs that best answer a question, best first."""
        matter = matter_of(question.text)
        times = Times(question, asks_once=matter is not None and matter.is_past)
        named = self.named_in(question.text)
        if not self._by_seq:
            return FoundBeliefs(named=named, matter=matter, asks_before=times.is_before_now)
        whose = Whose(
            question.text, question.language, self.entities, names_a_time=times.names_one,
            named=named,
        )  # fmt: skip
        values = values_of(matter, self._wanted(kinds) if matter else (), times, whose)
        liking = liking_in(question.text)
        unfit = self._unfit(times, kinds) | self._not_about(whose) | self._not_liked(liking)
        text = as_meant(question.text)
        asked = replace(question, text=text, exclude=unfit, former={}, exact={})
        if times.names_one:
            asked = replace(asked, exclude=unfit | not_of_then(asked, self._by_seq.values()))
            found = search_whenever(self._index, asked, _LOOKED_AT * k, self._holds)
        else:
            found = search(self._index, asked, _LOOKED_AT * k)
        scale = Scale(question, scorer)
        hits = self._weighed(found, scale, named)
        hits += self._about(named, hits, unfit, scale)
        if not kinds or "triple" in kinds:
            hits = self._with_reached(
                hits, self.reached(named, fits=times.fits if times.is_past else holds_now), scale
            )
        if times.is_before_now:
            hits = without_what_came_after(hits)
        best = surest(sorted(hits, key=lambda hit: (-hit.score, hit.known.base)))
        best = each_once(best)
        if asks_for_the_latest(question.text):
            best = by_date(best, question.asked_at)
        is_liked = liking is not None and any(
            is_meant(each.known.memory, each.why, liking, question.language) for each in best[:1]
        )
        sure = SURE if values.told else LIKED if is_liked else 0.0
        return FoundBeliefs(
            hits=tuple(_asked_for_first(values, best, scale)[:k]),
            answerable=max(found.answerable, sure),
            language=found.language, named=named, matter=matter,
            other_times=tuple(_by_key(values.other_times, scale)), overtaken=values.overtaken,
            asks_of_past=times.is_past, asks_before=times.is_before_now,
        )  # fmt: skip

    def reached(self, named: Sequence[Entity], *, fits: Fits = holds_now) -> tuple[Reached, ...]:
        """The ties of some, and of those who are tied to them, at one time."""
        return self.graph.walk([each.id for each in named], fits=fits) if named else ()

    def _with_reached(
        self, hits: Sequence[BeliefHit], reached: Sequence[Reached], scale: Scale
    ) -> list[BeliefHit]:
        """What was found, and the ties that were reached over those who are named."""
        found = {hit.known.base for hit in hits}
        said = {hit.known.memory.text for hit in hits}
        return [
            *hits,
            *(
                _reached_hit(each, self._meant.name_of(each.through), scale)
                for each in reached
                if each.known.base not in found and each.known.memory.text not in said
            ),
        ]

    def _holds(self, seq: int) -> bool:
        return self._by_seq[seq].memory.kind in HOLDING

    def _wanted(self, kinds: Collection[MemoryKind]) -> list[Known]:
        """What is or was believed, of these kinds only if there are any."""
        return [each for each in self._by_seq.values() if not kinds or each.memory.kind in kinds]

    def _unfit(self, times: Times, kinds: Collection[MemoryKind]) -> frozenset[int]:
        if not times.is_past and not kinds:
            return frozenset(self._ended | self._by_the_way)
        by_the_way = frozenset[int]() if kinds else frozenset(self._by_the_way)
        return by_the_way | frozenset(
            seq
            for seq, known in self._by_seq.items()
            if not times.fits(known) or (kinds and known.memory.kind not in kinds)
        )

    def _not_about(self, whose: Whose) -> set[int]:
        """What is not about whom the question asks about."""
        doubtful: set[int] = set()
        unfit: set[int] = set()
        if whose.is_own:
            doubtful |= self._of_others
        if whose.asks_for_a_name:
            doubtful |= self._own
        elif whose.asks_of_somebody:
            near = self._mentions.of(whose.words, whose.asked)
            unfit |= self._own - near
            doubtful |= self._own & near
        return unfit | {seq for seq in doubtful if not whose.fits(self._by_seq[seq].memory)}

    def _not_liked(self, liking: Liking | None) -> set[int]:
        """What somebody does not ask for who asks what they like, or what they cannot stand."""
        if liking is None:
            return set()
        return {seq for seq in self._own if tells_otherwise(self._by_seq[seq].memory, liking)}

    def _weighed(self, found: Found, scale: Scale, named: Sequence[Entity]) -> list[BeliefHit]:
        asked_about = {each.id for each in named}
        hits: list[BeliefHit] = []
        for hit in found.hits:
            known = self._by_seq[hit.seq]
            is_named = not asked_about.isdisjoint(known.memory.entities)
            hits.append(_hit(known, hit.score, hit.why, scale, is_named=is_named))
        return hits

    def _about(
        self, named: Sequence[Entity], hits: Sequence[BeliefHit], unfit: Collection[int],
        scale: Scale,
    ) -> list[BeliefHit]:  # fmt: skip
        """What is believed of who is named, where no word and no meaning has found it."""
        found = {hit.known.base for hit in hits}.union(unfit)
        about = {each.base: each for one in named for each in self.about(one.id)}
        return [
            _hit(known, 0.0, (), scale, is_named=True)
            for base, known in about.items()
            if base not in found
        ]


def _reached_hit(reached: Reached, name: str | None, scale: Scale) -> BeliefHit:
    why = Reason(cause="reached", name=name, strength=reached.closeness)
    score = scale.score(reached.known, reached.closeness, is_named=False)
    return BeliefHit(known=reached.known, score=score, why=(why,))


def _asked_for_first(
    values: Values, others: Sequence[BeliefHit], scale: Scale
) -> list[BeliefHit]:  # fmt: skip
    """The values of what is asked for by its key, before what was found by words."""
    found = {hit.known.base: hit for hit in others}
    first = surest(_by_key(values.told, scale))
    told = {hit.known.base for hit in first}
    return [*first, *(hit for base, hit in found.items() if base not in told)]


def _by_key(values: Sequence[Known], scale: Scale) -> list[BeliefHit]:
    """Values of what is asked for by its key, best first."""
    hits = [_hit(each, SURE, (ASKED_FOR,), scale, is_named=False) for each in values]
    return sorted(hits, key=lambda hit: (-hit.score, -hit.known.base))


def _hit(
    known: Known, close: float, why: tuple[Reason, ...], scale: Scale, *, is_named: bool
) -> BeliefHit:
    if is_named:
        close, why = max(close, _ANCHOR), (*why, BY_OWN_NAME)
    return BeliefHit(known=known, score=scale.score(known, close, is_named=is_named), why=why)


def _row_of(known: Known) -> IndexRow:
    memory = known.memory
    when = memory.happened_at if memory.kind == "event" else None
    return IndexRow(
        seq=known.base, chat="", session=memory.id, speaker="", language=memory.language,
        said_at=known.standing.last_seen if when is None else when,
        role="person" if memory.subject in {"person", "shared"} else "other",
        imprint=imprint_of(words_to_find(memory), language=memory.language),
    )  # fmt: skip
