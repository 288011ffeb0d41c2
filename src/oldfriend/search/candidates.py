"""Candidates: the few hundred most promising messages and the query words that they contain.

The terms of the candidates and their neighbors are read again, this time in order.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from oldfriend.search.full_scan import ScanScores
from oldfriend.search.query_parser import ParsedQuery
from oldfriend.search.search_index import NO_NEIGHBOR, PersonIndex
from oldfriend.search.types import Floats, Ints

MAX_CANDIDATES: Final = 400
_MAX_TERM_GAP: Final = 3  # positions between two terms that count as adjacent

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidates:
    """Positions of the candidates and their neighbors; NO_NEIGHBOR where there is none."""

    rows: Ints
    before: Ints
    after: Ints
    before2: Ints
    after2: Ints
    sessions: Ints  # of each candidate, numbered from 0 among the candidates
    session_count: int
    matches: Bools  # candidate × query word: whether the message contains it
    matches_around: Bools  # … the message or a neighbor
    matches_with_previous: Bools  # … the message or the previous one
    adjacent_pairs: Floats  # how many adjacent query words are adjacent here, too
    mentions: Bools  # whether the message contains the name of a speaker who is asked about
    mentions_before: Bools


def select_candidates(index: PersonIndex, scanned: ScanScores, limit: int = MAX_CANDIDATES) -> Ints:
    """Return the positions of the `limit` best messages, ascending; never an excluded one."""
    scores = scanned.first_pass[:-1].copy()
    scores[(index.columns.length == 0) | ~scanned.searchable] = -np.inf
    if len(scores) > limit:
        best = np.sort(np.argpartition(scores, -limit)[-limit:])
    else:
        best = np.arange(len(scores))
    return best[scores[best] > -np.inf].astype(np.int32)


def build_candidates(
    index: PersonIndex, rows: Ints, parsed: ParsedQuery, name_terms: Sequence[int]
) -> Candidates:
    """Read the selected messages with their neighbors and match the query words in them."""
    before, after = index.previous[rows], index.following[rows]
    positions, row_by_position = _number_distinct((rows, before, after), len(index))
    matches, adjacent_pairs, mentions = _match_terms(index, positions, parsed, name_terms)
    at = row_by_position[rows], row_by_position[before], row_by_position[after]
    own, previous, following = (matches[part] for part in at)
    session = index.columns.session[rows]
    sessions, session_number = _number_distinct((session,), len(index.tables.sessions))
    return Candidates(
        rows=rows,
        before=before,
        after=after,
        before2=index.take_neighbors(index.previous, before),
        after2=index.take_neighbors(index.following, after),
        sessions=session_number[session],
        session_count=len(sessions),
        matches=own,
        matches_around=own | previous | following,
        matches_with_previous=own | previous,
        adjacent_pairs=adjacent_pairs[at[0]],
        mentions=mentions[at[0]],
        mentions_before=mentions[at[1]],
    )


def _number_distinct(parts: Iterable[Ints], count: int) -> tuple[Ints, Ints]:
    """Return the distinct values below `count`, ascending, and the rank of each among them."""
    occurs = np.zeros(count + 1, np.bool_)
    for part in parts:
        occurs[part] = True
    occurs[NO_NEIGHBOR] = False
    numbers = np.flatnonzero(occurs).astype(np.int32)
    place = np.empty(count + 1, np.int32)
    place[numbers] = np.arange(len(numbers), dtype=np.int32)
    place[NO_NEIGHBOR] = NO_NEIGHBOR
    return numbers, place


def _match_terms(
    index: PersonIndex, positions: Ints, parsed: ParsedQuery, name_terms: Sequence[int]
) -> tuple[Bools, Floats, Bools]:
    """Match query words and names in these messages; an extra empty row stands for NO_NEIGHBOR."""
    words, rows = len(parsed.words), len(positions) + 1
    terms = [term for word in parsed.words for term in word.terms] + list(name_terms)
    group = [at for at, word in enumerate(parsed.words) for _ in word.terms]
    wanted = np.array(terms, dtype=np.uint32)
    groups = np.array(group + [words] * len(name_terms), dtype=np.int64)
    order = np.argsort(wanted, kind="stable")
    wanted, groups = wanted[order], groups[order]
    message, place, term = index.read_terms(positions)
    if not len(wanted) or not len(term):
        empty = np.zeros(rows, dtype=np.float32)
        return np.zeros((rows, words), np.bool_), empty, empty > 0
    found = np.minimum(np.searchsorted(wanted, term), len(wanted) - 1)
    hits = np.flatnonzero(wanted[found] == term)
    message, place, word = message[hits], place[hits], groups[found[hits]]
    matches = np.bincount(message * (words + 1) + word, minlength=rows * (words + 1)) > 0
    matches = matches.reshape(rows, words + 1)
    is_adjacent = (
        (message[1:] == message[:-1])
        & (np.abs(word[1:] - word[:-1]) == 1)
        & (np.maximum(word[1:], word[:-1]) < words)
        & (place[1:] - place[:-1] <= _MAX_TERM_GAP)
    )
    adjacent_pairs = np.bincount(message[1:][is_adjacent], minlength=rows).astype(np.float32)
    return matches[:, :words], adjacent_pairs, matches[:, words]
