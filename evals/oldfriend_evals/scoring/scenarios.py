"""Scenarios from a life: what would be asked as it goes on, and what was so at each time.

Its beliefs are those of its truth, as far as they were told until then, so that finding is
measured and not forming. It is asked at the end of each week, and long after the last word.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final

import numpy as np

from oldfriend.domain.attribute_keys import is_single_valued
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.ids import EntityId, MemoryId, ObjectId
from oldfriend.domain.memories import LIVE_STATUSES, Entity, MemoryState, Status
from oldfriend.llm.embedding import Embedder, Vectors
from oldfriend.search import BeliefIndex, QueryEmbedding, SearchQuery
from oldfriend.search.tense import TimeFrame
from oldfriend_evals.answers import SOMEBODY, build_known, get_day_start
from oldfriend_evals.lives.life import Belief, BeliefId, Life
from oldfriend_evals.lives.questions import LifeQuestion
from oldfriend_evals.scoring.scorer_comparison import Case, Moment, Question

WEEK: Final = timedelta(days=7)
LATER_DAYS: Final = (180, 730)
"""So long after the last word it is asked once more, of what nobody has mentioned since."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """A life, its questions, and what their texts mean."""

    life: Life
    questions: Sequence[LifeQuestion]
    meanings: Mapping[str, Vectors]

    @property
    def weeks(self) -> list[date]:
        """The last day of each week, and the last day of all."""
        days = [day.date for day in self.life.days]
        return sorted({*days[6::7], days[-1]})

    def moments(self) -> Iterator[Moment]:
        """What is believed and asked at each time."""
        last = self.weeks[-1]
        for day in self.weeks:
            yield self._moment(day, get_day_end(day), self._list_current_questions(day))
            yield self._list_unnoticed(day)
        for days in LATER_DAYS:
            yield self._moment(
                last, get_day_end(last) + days * DAY, self._list_current_questions(last)
            )
        for at in (get_day_end(last), get_day_end(last) + LATER_DAYS[-1] * DAY):
            yield self._moment(last, at, self._list_past_questions())

    def _moment(self, day: date, at: Micros, asked: Iterable["Asking"]) -> Moment:
        index = self.list_believed(day)
        return index, [case for each in asked for case in self._cases(each, at, index)]

    def _list_unnoticed(self, day: date) -> Moment:
        index = self.list_believed(day, is_noticed=False)
        changed = [
            Asking(text=each.text, asked="unnoticed", right=each.right, rivals=each.rivals)
            for each in self._list_current_questions(day)
            if each.rivals
        ]
        cases = (case for each in changed for case in self._cases(each, get_day_end(day), index))
        return index, list(cases)

    def _cases(self, asking: "Asking", at: Micros, index: BeliefIndex) -> Iterator[Case]:
        known = frozenset(str(each.memory.id) for each in index.known)
        right = asking.right & known
        if right:
            yield Case(
                question=self._question(asking.text, at),
                asked=asking.asked,
                right=list_ids(right),
                rivals=list_ids(asking.rivals & known),
            )

    def _question(self, text: str, at: Micros) -> SearchQuery:
        return SearchQuery(
            text=text,
            language=self.life.language,
            embedding=QueryEmbedding(vector=self.meanings[text]),
            asked_at=at,
        )

    def _list_current_questions(self, day: date) -> Iterator["Asking"]:
        """What is so at the end of a day; where something has changed, what was so before."""
        for each in self.questions:
            family = self._list_family(each)
            if each.beliefs and not self._is_past(each):
                right = {one.id for one in family if one.is_current(day)}
                rivals = {one.id for one in family if one.known_on <= day and is_over(one, day)}
                yield Asking(text=each.text, asked="now", right=right, rivals=rivals)

    def _list_past_questions(self) -> Iterator["Asking"]:
        """What was so before, and on the last day of each week."""
        for each in self.questions:
            family = self._list_family(each)
            if each.beliefs and self._is_past(each):
                rivals = {
                    one.id for one in [*family, *self._list_other_values(family)]
                } - each.beliefs
                yield Asking(text=each.text, asked="then", right=each.beliefs, rivals=rivals)
                continue
            lasting = [one for one in family if one.kind != "event"]
            changing = [one for one in lasting if one.supersedes or is_overtaken(one)]
            for day in self.weeks if len(changing) > 1 and changing == lasting else ():
                right = {one.id for one in changing if one.is_current(day)}
                others = {one.id for one in changing if not one.end or one.end.on != day}
                yield Asking(
                    text=build_dated_question(each.text, day),
                    asked="then",
                    right=right,
                    rivals=others - right,
                )

    def _list_family(self, question: LifeQuestion) -> list[Belief]:
        """What answers a question, what that has overtaken, and what has overtaken it."""
        beliefs = self.life.truth.beliefs
        links = [{each.id, each.supersedes} for each in beliefs if each.supersedes]
        members = set(question.beliefs)
        while grown := set[BeliefId]().union(*(link for link in links if members & link)) - members:
            members |= grown
        return [each for each in beliefs if each.id in members]

    def _list_other_values(self, family: Iterable[Belief]) -> Iterator[Belief]:
        """The other values of what has one at a time."""
        keys = {(one.kind, one.key, one.subject) for one in family if is_single_valued(one)}
        return (one for one in self.life.truth.beliefs if (one.kind, one.key, one.subject) in keys)

    def _is_past(self, question: LifeQuestion) -> bool:
        """Whether it asks how it was before: so it says, or all that answers was overtaken."""
        answers = [
            each
            for each in self.life.truth.beliefs
            if each.id in question.beliefs and each.kind != "event"
        ]
        plain = SearchQuery(
            text=question.text, language=self.life.language, asked_at=get_day_end(self.weeks[-1])
        )
        return TimeFrame(plain).is_past or (bool(answers) and all(map(is_overtaken, answers)))

    def list_believed(self, day: date, *, is_noticed: bool = True) -> BeliefIndex:
        """What is believed at the end of a day; perhaps without having noticed what changed."""
        index = BeliefIndex()
        index.entities = list_entities(self.life)
        told = [each for each in self.life.truth.beliefs if each.known_on <= day]
        numbered = enumerate(told, start=1)
        known = [
            build_as_of(each, self.life, day, base, index.entities, is_noticed=is_noticed)
            for base, each in numbered
        ]
        kept = [each for each in known if each.memory.status in {*LIVE_STATUSES, "superseded"}]
        vectors = {each.memory.id: self.meanings[each.memory.text] for each in kept}
        index.upsert(kept, {each: np.asarray(row) for each, row in vectors.items()})
        return index


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """A question as the truth of a life has it."""

    text: str
    asked: Question
    right: frozenset[BeliefId] | set[BeliefId]
    rivals: frozenset[BeliefId] | set[BeliefId]


async def build_replay(life: Life, questions: Sequence[LifeQuestion], embedder: Embedder) -> Replay:
    """A life that is ready to be asked, with the meaning of all that will be said."""
    plain = Replay(life=life, questions=questions, meanings={})
    texts = [each.texts[0] for each in life.truth.beliefs]
    texts += [each.text for each in questions]
    texts += [build_dated_question(each.text, day) for each in questions for day in plain.weeks]
    vectors = await embedder.embed(texts)
    return replace(plain, meanings=dict(zip(texts, vectors, strict=True)))


def build_as_of(
    belief: Belief,
    life: Life,
    day: date,
    base: int,
    entities: tuple[Entity, ...],
    *,
    is_noticed: bool,
) -> MemoryState:
    """A belief as it would be kept at the end of a day."""
    said = {line.id: line.spoken.at for line in life.lines if line.day <= day}
    known = build_known(
        belief, life, entities, [said[each] for each in sorted(belief.lines) if each in said], base
    )
    since = known.memory.holds_from
    if since is None and belief.supersedes is not None:
        since = known.stats.first_seen
    until, status = known.memory.holds_until, known.memory.status
    if belief.end is not None:
        is_told = belief.end.on <= day and (is_noticed or not is_overtaken(belief))
        status = get_final_status(belief) if is_told else "active"
        until = said[belief.end.line] if is_told and is_overtaken(belief) else until
    memory = replace(
        known.memory,
        status=status,
        holds_from=since,
        holds_until=until,
        ended_at=None if status in LIVE_STATUSES else (until or get_day_end(day)),
    )
    return replace(known, memory=memory)


def get_final_status(belief: Belief) -> Status:
    """How a belief stands once it is over."""
    if belief.end is None:
        return "active"
    return "deprecated" if belief.end.how == "ended" else belief.end.how


def list_entities(life: Life) -> tuple[Entity, ...]:
    """Whoever and whatever has a name in a life."""
    return tuple(
        Entity(
            id=EntityId(ObjectId(each.name)),
            person=SOMEBODY,
            name=each.name,
            kind=each.kind,
            aliases=each.aliases,
            learned_at=0,
        )
        for each in life.truth.names
    )


def is_overtaken(belief: Belief) -> bool:
    """Whether something else takes its place one day."""
    return belief.end is not None and belief.end.how == "superseded"


def is_over(belief: Belief, day: date) -> bool:
    """Whether something else has taken its place by the end of a day."""
    return belief.end is not None and is_overtaken(belief) and belief.end.on <= day


def build_dated_question(text: str, day: date) -> str:
    """A question about how it was on a day; every language reads such a date."""
    return f"{text} ({day})"


def get_day_end(day: date) -> Micros:
    """The last moment of a day."""
    after = get_day_start(day + timedelta(days=1))
    assert after is not None
    return after - 1


def list_ids(beliefs: Iterable[BeliefId | str]) -> frozenset[MemoryId]:
    """The ids under which beliefs of a life are kept."""
    return frozenset(MemoryId(ObjectId(each)) for each in beliefs)
