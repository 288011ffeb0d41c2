"""Orders in what a person tells: to keep it in mind, which is no part of it, or to do something."""

import re
from collections import deque
from typing import Final

from oldfriend.lang.clause_splitting import SENTENCE, split_clauses
from oldfriend.lang.message_acts import classify_act
from oldfriend.turn.attribution.cues import AttributionCues, fold_punctuation, load_cues_for

MARKS: Final = " ,.!:;()-\u2013\u2014\u3001\u3002"
"""What may stand between an order and what is told; a question mark makes it a question."""
PAUSES: Final = frozenset(MARKS) - {" "}
MAX_ORDERS: Final = 3
"""Orders in a row: "please remember, don't forget"."""
MIN_COMMAND: Final = 0.45
"""Probability of an order by which a text hands over something to be worked on."""
MAX_LINK_WORDS: Final = 4
"""Words of a request or a conjunction before an order: "s'il te plaît"."""


def has_order(text: str, language: str) -> bool:
    """Tell whether a text orders something else than to remember what it tells."""
    told = (drop_reminders(each.group().strip(), language) for each in SENTENCE.finditer(text))
    return any(
        classify_act(sentence[start:end])["command"] >= MIN_COMMAND
        for sentence in told
        for start, end in split_clauses(sentence)
    )


def drop_reminders(text: str, language: str) -> str:
    """Return a sentence without orders to remember before or behind what it tells.

    "I'm allergic to nuts, please don't forget" tells "I'm allergic to nuts"; what only orders
    becomes empty. "Don't forget the nuts" tells nothing beside its order, and stays as it is.
    """
    for cues in load_cues_for(text, language):
        folded = fold_punctuation(text)
        start = find_lead_end(folded, cues)
        end = find_tail_start(folded, cues)
        if start or end < len(text):
            return text[start:end].strip() if start < end else ""
    return text


def find_lead_end(folded: str, cues: AttributionCues) -> int:
    """Return where an order ends that introduces a statement: "remember that …"; else 0."""
    start = 0
    if asked := cues.please.match(folded):
        start = _skip_marks(folded, asked.end())
    order = cues.memory_order.match(folded, start)
    if order is None:
        return 0
    place = _skip_marks(folded, order.end())
    if that := cues.that.match(folded, place):
        return _skip_marks(folded, that.end())
    is_introduced = cues.that.search(order.group()) or not PAUSES.isdisjoint(
        folded[order.end() : place]
    )
    return place if is_introduced else 0


def find_tail_start(folded: str, cues: AttributionCues) -> int:
    """Return where orders begin that end a sentence; its length if none does.

    They stand behind a pause, or behind words that ask for something: "… please remember".
    """
    end = len(folded)
    orders = deque(cues.memory_order.finditer(folded), maxlen=MAX_ORDERS)
    while orders:
        order = orders.pop()
        between = folded[order.end() : end].strip(MARKS)
        if between and not cues.please.fullmatch(between):
            break
        start, is_asked = _find_request_start(folded[: order.start()], cues)
        told = folded[:start].rstrip(MARKS)
        is_apart = is_asked or not PAUSES.isdisjoint(folded[len(told) : order.start()])
        if told and not is_apart and not cues.is_unspaced:
            break
        end = len(told)
    return end


def _find_request_start(before: str, cues: AttributionCues) -> tuple[int, bool]:
    """Return where "and please" begins at the end of a text, and whether it asks."""
    end, is_asked = len(before.rstrip(MARKS)), False
    for _ in range(2):
        for link in (cues.please, cues.continuation, cues.contrast):
            if (start := _find_last_words(before[:end], link)) is not None:
                is_asked = is_asked or link is cues.please
                end = len(before[:start].rstrip(MARKS))
                before = before[:start]
    return len(before), is_asked


def _find_last_words(text: str, words: re.Pattern[str]) -> int | None:
    """Return where the last words of a text begin, if they are one of a list."""
    for count in range(MAX_LINK_WORDS, 0, -1):
        last = text.split()[-count:]
        start = len(text.rstrip()) - len(" ".join(last))
        if last and start >= 0 and words.fullmatch(text.rstrip(), start):
            return start
    return None


def _skip_marks(text: str, place: int) -> int:
    """Return where the words behind some marks begin."""
    return len(text) - len(text[place:].lstrip(MARKS))
