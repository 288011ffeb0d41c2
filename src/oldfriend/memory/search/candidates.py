"""Which messages are worth a closer look, and which words of the question stand in them?

For some hundred messages and their neighbours the terms are read again, this time in order.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from oldfriend.memory.search.asking import Asked
from oldfriend.memory.search.index import NOBODY, PersonIndex
from oldfriend.memory.search.scan import Scan
from oldfriend.memory.search.values import Floats, Ints

MOST_CANDIDATES: Final = 400
_NEAR: Final = 3  # terms apart, to count as standing together

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidates:
    """Positions of candidates and of what stands around them; NOBODY where nothing does."""

    rows: Ints
    before: Ints
    after: Ints
    before2: Ints
    after2: Ints
    sessions: Ints  # of each candidate, numbered from 0 among the candidates
    session_count: int
    here: Bools  # candidate × query word: does it stand in the message?
    around: Bools  # … in it or in a neighbour
    led: Bools  # … in it or in the one before
    together: Floats  # how many neighbouring query words stand together here too
    mentions: Bools  # does the message name one who is asked about?
    mentioned_before: Bools


def choose(index: PersonIndex, scanned: Scan, most: int = MOST_CANDIDATES) -> Ints:
    """The most promising messages, in no order; never an excluded one."""
    matching = scanned.matching[:-1].copy()
    matching[(index.columns.length == 0) | ~scanned.heard] = -np.inf
    if len(matching) > most:
        best = np.sort(np.argpartition(matching, -most)[-most:])
    else:
        best = np.arange(len(matching))
    return best[matching[best] > -np.inf].astype(np.int32)


def look_closer(
    index: PersonIndex, rows: Ints, asked: Asked, name_terms: Sequence[int]
) -> Candidates:
    """The chosen messages with their neighbours and the query words in them."""
    before, after = index.previous[rows], index.following[rows]
    near, place = _numbered((rows, before, after), len(index))
    held, together, mentions = _read_terms(index, near, asked, name_terms)
    at = place[rows], place[before], place[after]
    here, there_before, there_after = (held[part] for part in at)
    session = index.columns.session[rows]
    sessions, session_place = _numbered((session,), len(index.numbering.sessions))
    return Candidates(
        rows=rows,
        before=before,
        after=after,
        before2=index.neighbour(index.previous, before),
        after2=index.neighbour(index.following, after),
        sessions=session_place[session],
        session_count=len(sessions),
        here=here,
        around=here | there_before | there_after,
        led=here | there_before,
        together=together[at[0]],
        mentions=mentions[at[0]],
        mentioned_before=mentions[at[1]],
    )


def _numbered(parts: Iterable[Ints], count: int) -> tuple[Ints, Ints]:
    """The numbers below `count` that occur, ascending, and as the how manieth each of them does."""
    occurs = np.zeros(count + 1, np.bool_)
    for part in parts:
        occurs[part] = True
    occurs[NOBODY] = False
    numbers = np.flatnonzero(occurs).astype(np.int32)
    place = np.empty(count + 1, np.int32)
    place[numbers] = np.arange(len(numbers), dtype=np.int32)
    place[NOBODY] = NOBODY
    return numbers, place


def _read_terms(
    index: PersonIndex, near: Ints, asked: Asked, name_terms: Sequence[int]
) -> tuple[Bools, Floats, Bools]:
    """Which query words and names stand in these messages; one row more, empty, for none."""
    words, rows = len(asked.words), len(near) + 1
    terms = [term for word in asked.words for term in word.terms] + list(name_terms)
    group = [at for at, word in enumerate(asked.words) for _ in word.terms]
    wanted = np.array(terms, dtype=np.uint32)
    groups = np.array(group + [words] * len(name_terms), dtype=np.int64)
    order = np.argsort(wanted, kind="stable")
    wanted, groups = wanted[order], groups[order]
    message, place, term = index.terms_of(near)
    if not len(wanted) or not len(term):
        empty = np.zeros(rows, dtype=np.float32)
        return np.zeros((rows, words), np.bool_), empty, empty > 0
    found = np.minimum(np.searchsorted(wanted, term), len(wanted) - 1)
    hits = np.flatnonzero(wanted[found] == term)
    message, place, word = message[hits], place[hits], groups[found[hits]]
    held = np.bincount(message * (words + 1) + word, minlength=rows * (words + 1)) > 0
    held = held.reshape(rows, words + 1)
    follow = (
        (message[1:] == message[:-1])
        & (np.abs(word[1:] - word[:-1]) == 1)
        & (np.maximum(word[1:], word[:-1]) < words)
        & (place[1:] - place[:-1] <= _NEAR)
    )
    together = np.bincount(message[1:][follow], minlength=rows).astype(np.float32)
    return held[:, :words], together, held[:, words]
