"""Reminder text: the words of a tagged message that say what to remind of."""

from collections.abc import Sequence
from typing import Final

from oldfriend.tasks.request_features import TaggedToken
from oldfriend.tasks.request_tagger import LABELS, TaggedMessage
from oldfriend.tasks.time_words import TimeBook
from oldfriend.tasks.when_spans import Span, is_inside

WHAT, OTHER = (LABELS.index(each) for each in ("what", "other"))
MAX_OTHER: Final = 0.95
MAX_OTHER_BESIDE: Final = 0.85
"""Of a clause in which no word is likely what to remind of."""
MIN_WHAT: Final = 0.35
"""Clauses in which no word is as likely what to remind of are not."""
MIN_CLEAR: Final = 0.5
MIN_SURELY_WHAT: Final = 0.8
MIN_TOLD: Final = 0.6
"""If no word is as likely what to remind of, all that is no time and no request may be."""
MAX_SURELY_OTHER: Final = 0.98
MIN_CHARS: Final = 6
MIN_CHARS_UNSPACED: Final = 2
"""So little of a message is hardly all there is to remind of, if it says more."""
EDGES: Final = " \t\n.,;:!?¡¿。，；：！？、…-–—\"'“”„«»()"


def find_what(
    book: TimeBook, tagged: TaggedMessage, spans: Sequence[Span], lent: Sequence[Span] = ()
) -> str:
    """Return what to remind of: the clauses that say it, from the first word that does.

    Where nothing else surely is, it is what lends its time: all of its clause.
    """
    likely = tagged.labels[:, WHAT]
    best = tagged.labels.argmax(axis=1) == WHAT
    clauses: dict[int, list[int]] = {}
    for place, token in enumerate(tagged.tokens):
        is_word = token.word[0].isalnum() and not is_inside(token.start, spans)
        if is_word and (best[place] or not token.cue):
            clauses.setdefault(token.clause, []).append(place)
    said = [
        places for places in clauses.values() if not all(tagged.tokens[each].cue for each in places)
    ]
    chosen = [places for places in said if float(likely[places].max()) > MIN_WHAT]
    kept = [place for places in chosen for place in cut_clause(tagged, places, MAX_OTHER)]
    sure = float(likely[kept].mean()) if kept else 0.0
    about = find_event_clauses(tagged, lent) if lent else set[int]()
    own = [each for each in kept if tagged.tokens[each].clause not in about]
    if about and (not own or float(likely[own].mean()) < MIN_SURELY_WHAT):
        told = [places for places in said if places in chosen or is_of(tagged, places, about)]
        cut = [
            places if is_of(tagged, places, about) else cut_clause(tagged, places, MAX_OTHER)
            for places in told
        ]
        return ", ".join(filter(None, (join_tokens(book, tagged, each) for each in cut)))
    least = MIN_CHARS if book.is_spaced else MIN_CHARS_UNSPACED
    is_little = sum(len(tagged.tokens[each].word) for each in kept) < least
    told = said if is_little or sure < MIN_CLEAR else chosen
    is_told = any(float(likely[each].max()) >= MIN_TOLD for each in said)
    asking = {each.sentence for each in tagged.tokens if each.cue or is_inside(each.start, spans)}
    near = [places for places in said if tagged.tokens[places[0]].sentence in asking]
    if is_told:
        cut = [
            cut_clause(tagged, places, MAX_OTHER if places in chosen else MAX_OTHER_BESIDE)
            for places in told
        ]
    else:
        asks = {each.clause for each in tagged.tokens if each.cue}
        cut = [
            cut_clause(tagged, places, MAX_SURELY_OTHER) if is_of(tagged, places, asks) else places
            for places in near or said
        ]
    pieces = (join_tokens(book, tagged, places) for places in (cut if any(cut) else said))
    return ", ".join(each for each in pieces if each)


def find_event_clauses(tagged: TaggedMessage, lent: Sequence[Span]) -> set[int]:
    """Return the clauses of which words lend their time, and those before, if they ask nothing."""
    asking = {each.clause for each in tagged.tokens if each.cue}
    lending = {each.clause for each in tagged.tokens if is_inside(each.start, lent)}
    return (lending | {each - 1 for each in lending}) - asking


def is_of(tagged: TaggedMessage, places: Sequence[int], clauses: set[int]) -> bool:
    """Whether places of one clause are of one of some."""
    return tagged.tokens[places[0]].clause in clauses


def cut_clause(tagged: TaggedMessage, places: Sequence[int], most: float) -> list[int]:
    """Return the places of a clause without those at its ends that are rather of something else."""
    other = tagged.labels[:, OTHER]
    kept = [each for each in places if other[each] < most]
    return [each for each in places if kept and kept[0] <= each <= kept[-1]]


def join_tokens(book: TimeBook, tagged: TaggedMessage, places: Sequence[int]) -> str:
    """Return the words at some places of a message as one text, without those that join times."""
    pieces: list[str] = []
    before = None
    for place in places:
        token = tagged.tokens[place]
        word = tagged.text[token.start : token.end]
        if before is not None and is_joint(tagged, before, place):
            pieces[-1] += tagged.text[tagged.tokens[before].end : token.start] + word
        else:
            pieces.append(word)
        before = place
    told = [each for each in pieces if book.drop_joints(each)]
    return " ".join(told or pieces).strip(EDGES)


def is_joint(tagged: TaggedMessage, before: int, place: int) -> bool:
    """Whether only marks stand between two tokens."""
    between: Sequence[TaggedToken] = tagged.tokens[before + 1 : place]
    return all(not each.word[0].isalnum() for each in between)
