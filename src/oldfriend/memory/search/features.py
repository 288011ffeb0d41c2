"""What speaks for a candidate, and what against? One row of numbers each, in a fixed order.

The numbers do not depend on how long the history is, so that weights learned on short ones hold
for long ones. Their names are what the weights file calls them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from oldfriend.memory.search.asking import Asked, Wanted
from oldfriend.memory.search.candidates import Candidates
from oldfriend.memory.search.closeness_in_time import date_fit
from oldfriend.memory.search.index import NOBODY, PersonIndex
from oldfriend.memory.search.people import Meant
from oldfriend.memory.search.scan import Scan
from oldfriend.memory.search.signs import Sign
from oldfriend.memory.search.values import Floats

Feature: TypeAlias = tuple[str, NDArray[np.generic]]

_SHORT_TEXT: Final = 40  # characters
_TYPICAL_DEVIATIONS: Final = 3.0
_TINY: Final = 1e-6


def _name(flag: Sign | Wanted) -> str:
    return (flag.name or "").lower()


def _bits(flags: Sequence[Sign | Wanted]) -> NDArray[np.uint32]:
    """A number for each flag, one below the other: to be compared with a row of signs."""
    return np.array([[int(flag)] for flag in flags], np.uint32)


_SIGNS_THAT_COUNT: Final = (
    Sign.NAME, Sign.QUESTION, Sign.ATTACHMENT, Sign.NUMBER, Sign.THANKS, Sign.TIME,
    Sign.EXCLAMATION, Sign.RELATION, Sign.REASON, Sign.GREETING, Sign.PAST, Sign.SECOND_PERSON,
)  # fmt: skip
_SIGNS_OF_AN_ANSWER: Final = (
    (Wanted.NUMBER, Sign.NUMBER), (Wanted.TIME, Sign.TIME), (Wanted.PLACE, Sign.NAME),
    (Wanted.TIME, Sign.QUESTION), (Wanted.REASON, Sign.REASON), (Wanted.PERSON, Sign.NAME),
    (Wanted.PERSON, Sign.RELATION), (Wanted.TIME, Sign.FIRST_PERSON),
    (Wanted.PLACE, Sign.PLACE), (Wanted.LIST, Sign.ATTACHMENT),
)  # fmt: skip
_SIGN_NAMES: Final = tuple(f"sign_{_name(sign)}" for sign in _SIGNS_THAT_COUNT)
_ANSWER_NAMES: Final = tuple(f"{_name(want)}_{_name(sign)}" for want, sign in _SIGNS_OF_AN_ANSWER)
# Plain numbers: arithmetic on an IntFlag costs a microsecond each time.
_SIGN_BITS: Final = _bits(_SIGNS_THAT_COUNT)
_ANSWER_BITS: Final = _bits([sign for _, sign in _SIGNS_OF_AN_ANSWER])
_WANTED_BITS: Final = _bits([wanted for wanted, _ in _SIGNS_OF_AN_ANSWER])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """All that is known when the candidates are weighed."""

    index: PersonIndex
    asked: Asked
    meant: Meant
    scanned: Scan
    near: Candidates
    date_inside: Floats
    date_close: Floats  # how well each candidate's moment fits the dates in the question
    session_mass: Floats  # which share of all that matches lies in the candidate's session


def weigh_up(
    index: PersonIndex, asked: Asked, meant: Meant, scanned: Scan, near: Candidates
) -> Evidence:
    """Put together what is known of the candidates."""
    matching = scanned.matching[near.rows]
    likely = np.exp(matching - matching.max(initial=0))
    mass = np.bincount(near.sessions, likely, near.session_count)
    inside, close = date_fit(index.columns.said_at[near.rows], asked.spans)
    return Evidence(
        index=index,
        asked=asked,
        meant=meant,
        scanned=scanned,
        near=near,
        date_inside=inside,
        date_close=close,
        session_mass=(mass[near.sessions] / max(float(mass.sum()), _TINY)).astype(np.float32),
    )


def features_of(evidence: Evidence) -> tuple[tuple[str, ...], Floats]:
    """The names of all features, and candidate × feature."""
    parts = (_closeness, _coverage, _session, _people, _dates, _shape, _turns)
    names, columns = zip(*[feature for part in parts for feature in part(evidence)], strict=True)
    table = np.concatenate(columns, dtype=np.float32).reshape(len(names), -1)
    return names, table.T


def _closeness(given: Evidence) -> Iterator[Feature]:
    near, scanned = given.near, given.scanned
    own = np.float32(1 / max(scanned.most_lexical, _TINY))
    beside = np.float32(1 / max(scanned.most_around, _TINY))
    lexical, around = scanned.lexical, scanned.lexical_around
    meaning, has_meaning = scanned.meaning, scanned.meaning_weight
    words, close, words_around = (
        lexical[near.rows] * own,
        meaning[near.rows],
        around[near.rows] * beside,
    )
    chats = float(given.index.has_companion)
    yield "words", words
    yield "words_share", scanned.lexical[near.rows] / scanned.possible
    yield "words_around", words_around
    yield "words_around_share", scanned.lexical_around[near.rows] / scanned.possible
    yield "words_before", lexical[near.before] * own
    yield "words_after", lexical[near.after] * own
    yield "words_before2", lexical[near.before2] * own
    yield "words_around_before2", around[near.before2] * beside
    yield "words_around_after2", around[near.after2] * beside
    yield "meaning", close
    yield "meaning_squared", np.square(np.maximum(close, 0)) / 4
    yield "meaning_before", meaning[near.before]
    yield "meaning_after", meaning[near.after]
    yield "meaning_before2", meaning[near.before2]
    yield "words_and_meaning", words * np.maximum(close, 0) / _TYPICAL_DEVIATIONS
    yield "words_with_companion", words * chats
    yield "meaning_with_companion", close * chats
    yield "words_alone", words * (1 - has_meaning)
    yield "words_around_alone", words_around * (1 - has_meaning)
    yield "words_around_for_time", words_around * bool(given.asked.wanted & Wanted.TIME)


def _coverage(given: Evidence) -> Iterator[Feature]:
    near, idf = given.near, given.scanned.idf
    words = max(len(idf), 1)
    weights = idf / np.float32(max(given.scanned.idf_sum, _TINY))
    covered, around = near.here @ weights, near.around @ weights
    alone = 1 - given.scanned.meaning_weight
    rarest = max(float(idf.max(initial=0)), _TINY)
    yield "covered", covered
    yield "covered_squared", np.square(covered)
    yield "covered_with_before", near.led @ weights
    yield "covered_around", around
    yield "covered_around_alone", around * alone
    word_count = near.here.sum(axis=1)
    yield "rarest_word", (near.here * idf).max(axis=1, initial=0) / rarest
    yield "any_word", word_count > 0
    yield "share_of_words", word_count / words
    yield "three_words", word_count >= 3
    yield "words_together", near.together / max(words - 1, 1)


def _session(given: Evidence) -> Iterator[Feature]:
    near, scanned = given.near, given.scanned
    matching = scanned.matching[near.rows]
    best = max(float(matching.max(initial=0)), _TINY)
    yield "matching", matching / best
    yield "session_best", _most(given, matching)[near.sessions] / best
    yield "session_mass", given.session_mass
    words = np.bincount(near.sessions, scanned.lexical[near.rows], near.session_count)
    yield "session_words", words[near.sessions] / max(float(words.max(initial=0)), _TINY)
    covered = np.zeros((near.session_count, len(scanned.idf)), np.bool_)
    np.logical_or.at(covered, near.sessions, near.here)
    share = covered @ scanned.idf / max(scanned.idf_sum, _TINY)
    yield "session_covered", share[near.sessions]
    if scanned.meaning_weight:
        closest = _most(given, scanned.meaning[near.rows])[near.sessions]
        yield "session_meaning", closest / max(float(scanned.meaning.max()), _TINY)
    else:
        yield "session_meaning", np.zeros_like(matching)


def _most(given: Evidence, values: Floats) -> Floats:
    most = np.full(given.near.session_count, -10, dtype=np.float32)
    np.maximum.at(most, given.near.sessions, values)
    return most


def _people(given: Evidence) -> Iterator[Feature]:
    near, meant, columns = given.near, given.meant, given.index.columns
    speaker = columns.speaker[near.rows]
    one, anyone = len(meant.named) == 1, bool(meant.named)
    speaks = np.isin(speaker, meant.named) if anyone else np.zeros(len(near.rows), np.bool_)
    mine = columns.is_person[near.rows]
    companion = columns.is_companion[near.rows]
    words = given.scanned.lexical[near.rows] / max(given.scanned.most_lexical, _TINY)
    in_first_person = (columns.signs[near.rows] & int(Sign.FIRST_PERSON)) != 0
    yield "named_speaks", speaks & one
    yield "another_speaks", ~speaks & one
    yield "named_speaks_words", (speaks & one) * words
    yield "named_speaks_of_self", speaks & one & in_first_person
    yield "mentions_named", near.mentions & anyone
    yield "another_mentions_named", near.mentions & ~speaks & anyone
    yield "mentioned_before", near.mentioned_before & anyone
    yield "mine", mine
    yield "mine_when_asked_as_i", mine & meant.is_person
    yield "another_when_asked_as_i", ~mine & meant.is_person
    yield "companion", companion
    yield "companion_when_asked_as_you", companion & given.asked.second_person


def _dates(given: Evidence) -> Iterator[Feature]:
    said_at = given.index.columns.said_at
    yield "date_inside", given.date_inside
    yield "date_close", given.date_close
    yield "date_missed", (1 - given.date_close) * bool(given.asked.spans)
    first, last = given.index.first_at, given.index.last_at
    when = (said_at[given.near.rows] - first) / max(last - first, 1)
    yield "late_when_latest", when * bool(given.asked.wanted & Wanted.LATEST)
    yield "late_when_earliest", when * bool(given.asked.wanted & Wanted.EARLIEST)


def _shape(given: Evidence) -> Iterator[Feature]:
    columns, rows = given.index.columns, given.near.rows
    characters = columns.characters[rows]
    length = np.log1p(characters, dtype=np.float32) - np.float32(given.index.mean_log_length)
    yield "length", length
    yield "length_squared", np.square(length)
    yield "short", characters < _SHORT_TEXT
    yield "length_with_companion", length * float(given.index.has_companion)
    signs = columns.signs[rows]
    yield from zip(_SIGN_NAMES, (signs & _SIGN_BITS) != 0, strict=True)
    asked_for = (_WANTED_BITS & np.uint32(given.asked.wanted)) != 0
    yield from zip(_ANSWER_NAMES, ((signs & _ANSWER_BITS) != 0) & asked_for, strict=True)


def _turns(given: Evidence) -> Iterator[Feature]:
    index, near, lexical = given.index, given.near, given.scanned.lexical
    best = max(given.scanned.most_lexical, _TINY)
    question = int(Sign.QUESTION)
    asks = (index.columns.signs[near.rows] & question) != 0
    asked_before = (index.neighbour(index.columns.signs, near.before, 0) & question) != 0
    asked_after = (index.neighbour(index.columns.signs, near.after, 0) & question) != 0
    speaker = index.columns.speaker[near.rows]
    yield "same_speaker_before", index.neighbour(index.columns.speaker, near.before, -1) == speaker
    yield "asked_before", asked_before
    yield "asked_before_words", asked_before * lexical[near.before] / best
    yield "asks_and_is_answered", asks & ~asked_after
    yield "asks_and_is_answered_words", asks * lexical[near.after] / best
    yield "opens_session", near.before == NOBODY
    yield "closes_session", near.after == NOBODY
