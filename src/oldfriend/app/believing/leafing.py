"""A page of what is believed, or was on a day; and what of it has changed between two days.

Reads only. Of a page just that is read which stands on it.
"""

import asyncio
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from oldfriend.app.believing.looking import CLOSE, Belief, said_by
from oldfriend.app.house import House
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import MemoryId, ObjectId, PersonId
from oldfriend.domain.language import detect_language
from oldfriend.domain.memories import Believed, Change, Evidence, Memory, ObjectKind
from oldfriend.domain.people import Person
from oldfriend.memory.evidence import list_evidence_of
from oldfriend.memory.leafing import (
    Place,
    Text,
    Wanted,
    list_decided_at,
    list_places,
    list_texts,
)
from oldfriend.memory.meanings import load_meanings
from oldfriend.memory.search.words import is_stop_word, is_unspaced, stem_of, words_in
from oldfriend.memory.standing import OF_TIES, USUAL, standing_of
from oldfriend.memory.turning import Differing, Turn, list_differing
from oldfriend.turn.recall import vector_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A page of what is believed, and where the next one begins."""

    beliefs: tuple[Belief, ...]
    next: Place | None


async def leaf_through(
    tx: Transaction, person: PersonId, wanted: Wanted, *, after: Place | None, limit: int
) -> Leaf:
    """The next page behind a place."""
    places = await list_places(tx, person, wanted, after=after, limit=limit + 1)
    page = places[:limit]
    beliefs = await beliefs_named(tx, person, [each.id for each in page], at=wanted.at)
    return Leaf(beliefs=beliefs, next=page[-1] if len(places) > limit else None)


async def beliefs_named(
    tx: Transaction, person: PersonId, objects: Sequence[ObjectId], *, at: Micros | None
) -> tuple[Belief, ...]:
    """Some beliefs with their words and how they stand, now or at a moment, in this order."""
    decided = await list_decided_at(tx, person, objects, at=at)
    words = await list_evidence_of(tx, person, objects)
    return tuple(
        belief_from(decided[each], words.get(each, ()), at=at)
        for each in objects
        if each in decided
    )


def belief_from(change: Change, words: Sequence[Evidence], *, at: Micros | None) -> Belief:
    """A belief as it was decided, with such of its words as were said by then."""
    said = tuple(words) if at is None else said_by(at, words)
    what = change.after
    steps = OF_TIES if isinstance(what, Memory) and what.kind == "triple" else USUAL
    standing = standing_of(said, steps) if isinstance(what, Memory) else None
    return Belief(what=what, standing=standing, words=said, base=change.seq)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What fits some words, best first, and how much there is of each kind."""

    ids: tuple[ObjectId, ...]
    counts: dict[ObjectKind, int]  # whichever kinds were asked for


async def find_by_words(house: House, person: Person, words: str, wanted: Wanted) -> Found:
    """What of all that is wanted has words that begin like these, or means nearly the same."""
    vector = await vector_of(house.embedder, words)
    async with house.db.reading() as tx:
        texts = await list_texts(tx, person.id, replace(wanted, kinds=frozenset()))
        meanings = await load_meanings(tx, person.id, house.embedder.model)
    patterns = patterns_for(words, detect_language(words, fallback=person.language or "en"))

    def found() -> list[Text]:
        close = (
            {} if vector is None else {id_: float(vector @ each) for id_, each in meanings.items()}
        )
        return ranked(texts, patterns, close)

    best = await asyncio.to_thread(found)  # of many thousands it takes a while
    return Found(
        ids=tuple(each.id for each in best if not wanted.kinds or each.kind in wanted.kinds),
        counts=dict(Counter(each.kind for each in best)),
    )


def patterns_for(words: str, language: str) -> list[re.Pattern[str]]:
    """For each word that carries matter the pattern of words that begin like it."""
    said = words_in(words)
    telling = [each for each in said if not is_stop_word(each, language)] or said or [words]
    return [re.compile(beginning(unaccented(each), stem_of(each, language))) for each in telling]


def beginning(word: str, stem: str) -> str:
    """The pattern of words that begin so; of signs that stand without spaces, anywhere."""
    if is_unspaced(word):
        return re.escape(word)
    return rf"(?<![^\W_])(?:{re.escape(stem)}|{re.escape(word)})"


def unaccented(text: str) -> str:
    """A text in small letters without accents."""
    small = text.casefold()
    if small.isascii():
        return small
    parts = unicodedata.normalize("NFKD", small)
    bare = "".join(each for each in parts if not unicodedata.combining(each))
    return unicodedata.normalize("NFC", bare)


def ranked(
    texts: Sequence[Text], patterns: Sequence[re.Pattern[str]], close: Mapping[MemoryId, float]
) -> list[Text]:
    """What holds such words, or is close in meaning; best first."""
    scored: list[tuple[float, Text]] = []
    for each in texts:
        text = unaccented(each.text)
        share = sum(pattern.search(text) is not None for pattern in patterns) / len(patterns)
        cosine = close.get(MemoryId(each.id), 0.0)
        if share or cosine >= CLOSE:
            scored.append((share + cosine, each))
    return [each for _, each in sorted(scored, key=lambda pair: -pair[0])]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnedOut:
    """Something that is not believed on two days alike."""

    turn: Turn
    change: Change  # the newest on the later day
    before: Believed | None  # as it was believed on the earlier


@dataclass(frozen=True, slots=True, kw_only=True)
class Between:
    """A page of what has changed between two days, the newest first, and how much there is."""

    turned: tuple[TurnedOut, ...]
    counts: dict[Turn, int]
    next: int | None


async def between(
    tx: Transaction, person: PersonId, *, since: Micros, until: Micros,
    kinds: Sequence[ObjectKind], before: int | None, limit: int,
) -> Between:  # fmt: skip
    """What is believed on the later of two days only, no longer, or otherwise."""
    differing = await list_differing(tx, person, since=since, until=until, kinds=kinds)
    counts: dict[Turn, int] = {"added": 0, "ended": 0, "changed": 0}
    for each in differing:
        counts[each.turn] += 1
    left = [each for each in differing if before is None or each.seq < before]
    page = left[:limit]
    return Between(
        turned=await turned_out(tx, person, page, since=since, until=until), counts=counts,
        next=page[-1].seq if len(left) > limit else None,
    )  # fmt: skip


async def turned_out(
    tx: Transaction, person: PersonId, page: Sequence[Differing], *, since: Micros, until: Micros
) -> tuple[TurnedOut, ...]:
    """Each with what was decided about it by either day."""
    objects = [each.object for each in page]
    then = await list_decided_at(tx, person, objects, at=since)
    now = await list_decided_at(tx, person, objects, at=until)
    return tuple(
        TurnedOut(turn=each.turn, change=now[each.object], before=held_before(then, each.object))
        for each in page
    )


def held_before(then: dict[ObjectId, Change], object_id: ObjectId) -> Believed | None:
    """What was believed of something; None: it was not."""
    change = then.get(object_id)
    return change.after if change is not None and change.after.ended_at is None else None
