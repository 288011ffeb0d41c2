"""Why was this message found? The causes that weighed most, in words a person can check."""

from collections.abc import Iterator, Sequence
from itertools import compress
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oldfriend.memory.search.candidates import Bools
from oldfriend.memory.search.features import Evidence
from oldfriend.memory.search.index import NOBODY
from oldfriend.memory.search.signs import Sign
from oldfriend.memory.search.values import Floats, Reason

_CLEARLY_CLOSE: Final = 1.5  # standard deviations above this person's mean
_SURELY_CLOSE: Final = 0.5  # cosine
_HARDLY_CLOSE: Final = 0.3
_VERY_CLOSE: Final = 4.0
_DATE_FITS: Final = 0.5
_SESSION_STANDS_OUT: Final = 0.35
_SAID_LESS: Final = 0.5
_QUESTION: Final = int(Sign.QUESTION)
_MATCHING: Final = frozenset({"words", "words_near", "answers", "meaning", "date"})


class Seen(NamedTuple):
    """One candidate as it is told of: plain values, for a look into an array takes as long."""

    here: Bools  # which words of the question stand in it
    beside: Bools  # … only in the messages around it
    is_answer: bool  # the message before asks, with words of the question
    above: float  # its meaning, as standard deviations above this person's mean
    cosine: float
    speaker: int
    is_person: bool
    mentions: bool
    date_close: float
    session_mass: float


class Asking(NamedTuple):
    """What is the same for all candidates of one question."""

    words: Sequence[str]
    idf: Floats
    idf_sum: float
    speakers: Sequence[str]
    named: Sequence[int]
    is_person: bool
    has_sessions: bool  # one conversation alone does not stand out


def reasons_for(given: Evidence, chosen: NDArray[np.intp]) -> list[tuple[Reason, ...]]:
    """The causes of each of these candidates, strongest first."""
    asking = Asking(
        words=[word.surface for word in given.asked.words],
        idf=given.scanned.idf,
        idf_sum=max(given.scanned.idf_sum, 1e-6),
        speakers=given.index.numbering.speakers.known,
        named=given.meant.named,
        is_person=given.meant.is_person,
        has_sessions=given.near.session_count > 1,
    )
    return [_reasons(asking, seen) for seen in _seen(given, chosen)]


def _seen(given: Evidence, chosen: NDArray[np.intp]) -> Iterator[Seen]:
    near, scanned, columns = given.near, given.scanned, given.index.columns
    rows, before, here = near.rows[chosen], near.before[chosen], near.here[chosen]
    asked_before = (before != NOBODY) & (columns.signs[before] & _QUESTION != 0)
    led_only = (near.led[chosen] & ~here).any(axis=1)
    return map(
        Seen,
        here,
        near.around[chosen] & ~here,
        (asked_before & led_only).tolist(),
        scanned.meaning[rows].tolist(),
        scanned.cosine[rows].tolist(),
        columns.speaker[rows].tolist(),
        columns.is_person[rows].tolist(),
        near.mentions[chosen].tolist(),
        given.date_close[chosen].tolist(),
        given.session_mass[chosen].tolist(),
    )


def _reasons(asking: Asking, seen: Seen) -> tuple[Reason, ...]:
    causes = [*_words(asking, seen), *_meaning(seen), *_people(asking, seen)]
    causes += _setting(asking, seen)
    if _MATCHING.isdisjoint([reason.cause for reason in causes]):
        causes += _meaning(seen, clearly=False)
    causes.sort(key=_weakness)
    return tuple(causes)


def _weakness(reason: Reason) -> float:
    return -reason.strength


def _words(asking: Asking, seen: Seen) -> Iterator[Reason]:
    if words := tuple(compress(asking.words, seen.here.tolist())):
        yield Reason(cause="words", words=words, strength=_share(asking, seen.here))
    if words := tuple(compress(asking.words, seen.beside.tolist())):
        share = _SAID_LESS * _share(asking, seen.beside)
        yield Reason(cause="words_near", words=words, strength=share)
    if seen.is_answer:
        yield Reason(cause="answers", strength=_SAID_LESS)


def _share(asking: Asking, held: Bools) -> float:
    return float(np.add.reduce(asking.idf[held])) / asking.idf_sum


def _meaning(seen: Seen, *, clearly: bool = True) -> Iterator[Reason]:
    if seen.above >= _CLEARLY_CLOSE or seen.cosine >= (_SURELY_CLOSE if clearly else _HARDLY_CLOSE):
        strength = min(max(seen.above / _VERY_CLOSE, seen.cosine), 1.0)
        yield Reason(cause="meaning", strength=strength)


def _people(asking: Asking, seen: Seen) -> Iterator[Reason]:
    if seen.speaker in asking.named:
        yield Reason(cause="said_by", name=asking.speakers[seen.speaker], strength=0.3)
    elif seen.mentions:
        yield Reason(cause="mentions", name=asking.speakers[asking.named[0]], strength=0.2)
    if asking.is_person and seen.is_person:
        yield Reason(cause="own_words", name=asking.speakers[seen.speaker], strength=0.3)


def _setting(asking: Asking, seen: Seen) -> Iterator[Reason]:
    if seen.date_close >= _DATE_FITS:
        yield Reason(cause="date", strength=0.6 * seen.date_close)
    if asking.has_sessions and seen.session_mass >= _SESSION_STANDS_OUT:
        yield Reason(cause="session", strength=0.4 * seen.session_mass)
