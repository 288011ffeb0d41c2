"""Why was this message found? The causes that weighed most, in words a person can check."""

from collections.abc import Iterator
from typing import Final

from oldfriend.memory.search.candidates import Bools
from oldfriend.memory.search.features import Evidence
from oldfriend.memory.search.index import NOBODY
from oldfriend.memory.search.scan import Scan
from oldfriend.memory.search.signs import Sign
from oldfriend.memory.search.values import Reason

_CLEARLY_CLOSE: Final = 1.5  # standard deviations above this person's mean
_SURELY_CLOSE: Final = 0.5  # cosine
_HARDLY_CLOSE: Final = 0.3
_VERY_CLOSE: Final = 4.0
_DATE_FITS: Final = 0.5
_SESSION_STANDS_OUT: Final = 0.35
_SAID_LESS: Final = 0.5
_QUESTION: Final = int(Sign.QUESTION)
_MATCHING: Final = frozenset({"words", "words_near", "answers", "meaning", "date"})


def reasons_for(given: Evidence, at: int) -> tuple[Reason, ...]:
    """The causes of one candidate, strongest first."""
    causes = [*_words(given, at), *_meaning(given, at), *_people(given, at), *_setting(given, at)]
    if not any(reason.cause in _MATCHING for reason in causes):
        causes += _meaning(given, at, clearly=False)
    return tuple(sorted(causes, key=lambda reason: -reason.strength))


def _words(given: Evidence, at: int) -> Iterator[Reason]:
    near, scanned = given.near, given.scanned
    here = near.here[at]
    if words := _surfaces(given, here):
        yield Reason(cause="words", words=words, strength=_share(scanned, here))
    beside = near.around[at] & ~here
    if words := _surfaces(given, beside):
        yield Reason(cause="words_near", words=words, strength=_SAID_LESS * _share(scanned, beside))
    if _answers(given, at):
        yield Reason(cause="answers", strength=_SAID_LESS)


def _surfaces(given: Evidence, held: Bools) -> tuple[str, ...]:
    words = given.asked.words
    return tuple([words[at].surface for at in held.nonzero()[0].tolist()])


def _share(scanned: Scan, held: Bools) -> float:
    return float(scanned.idf[held].sum()) / max(scanned.idf_sum, 1e-6)


def _answers(given: Evidence, at: int) -> bool:
    """The message before asks, with words of the question."""
    index, near = given.index, given.near
    before = int(near.before[at])
    if before == NOBODY:
        return False
    if not int(index.columns.signs[before]) & _QUESTION:
        return False
    led_only = near.led[at] & ~near.here[at]
    return bool(led_only.any())


def _meaning(given: Evidence, at: int, *, clearly: bool = True) -> Iterator[Reason]:
    row = given.near.rows[at]
    above, cosine = float(given.scanned.meaning[row]), float(given.scanned.cosine[row])
    if above >= _CLEARLY_CLOSE or cosine >= (_SURELY_CLOSE if clearly else _HARDLY_CLOSE):
        yield Reason(cause="meaning", strength=min(max(above / _VERY_CLOSE, cosine), 1.0))


def _people(given: Evidence, at: int) -> Iterator[Reason]:
    index, meant = given.index, given.meant
    speaker = int(index.columns.speaker[given.near.rows[at]])
    names = index.numbering.speakers.known
    if speaker in meant.named:
        yield Reason(cause="said_by", name=names[speaker], strength=0.3)
    elif given.near.mentions[at]:
        yield Reason(cause="mentions", name=names[meant.named[0]], strength=0.2)
    if meant.is_person and index.columns.is_person[given.near.rows[at]]:
        yield Reason(cause="own_words", name=names[speaker], strength=0.3)


def _setting(given: Evidence, at: int) -> Iterator[Reason]:
    fit = float(given.date_close[at])
    if fit >= _DATE_FITS:
        yield Reason(cause="date", strength=0.6 * fit)
    share = float(given.session_mass[at])
    # One conversation alone does not stand out.
    if share >= _SESSION_STANDS_OUT and given.near.session_count > 1:
        yield Reason(cause="session", strength=0.4 * share)
