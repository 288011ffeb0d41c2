"""Unintended actions: what a message about tasks does not ask for, although its words may."""

import re
from typing import Final

from oldfriend.tasks.asked_task import Action
from oldfriend.tasks.task_phrases import TaskPhrases
from oldfriend.tasks.time_words import MAX_REQUEST_CHARS
from oldfriend.turn.attribution.quoted_spans import find_borrowed_spans
from oldfriend.turn.request_handlers.handler import HandlerContext
from oldfriend.turn.request_handlers.request_kinds import classify_request

QUOTE_MARK: Final = re.compile("[\"'“”„«»‘’「」『』]")
SURELY_NUMBER: Final = 0.9
"""How likely a text in which nothing asks must be to tell a number, so that it is no reminder."""
SURELY_TODO: Final = 0.9
"""How likely what is to be noted must be to be something to do; else it is kept word for word."""


def find_unintended(context: HandlerContext, phrases: TaskPhrases, language: str) -> set[Action]:
    """Return the actions that a message does not ask for, although its words may."""
    text = context.text.strip()
    unintended: set[Action] = set()
    if context.perception.note is not None and not is_surely_todo(text, language):
        unintended.add("todo")  # it is kept word for word
    if context.perception.intent == "forget":
        unintended.add("todo")  # "forget Lena completely"
    if is_asked_in_quote(text, phrases) or is_surely_number(text, phrases, language):
        unintended.add("remind")
    return unintended


def is_asked_in_quote(text: str, phrases: TaskPhrases) -> bool:
    """Whether all words that ask stand in quotation marks: "her phone says 'remind me later'"."""
    cues = phrases.list_cues(text) if QUOTE_MARK.search(text) else []
    spans = find_borrowed_spans(text, phrases.language) if cues else ()
    quoted = [each for each in spans if each.kind == "quoted"]
    return bool(cues) and all(
        any(span.start <= cue.start < span.end for span in quoted) for cue in cues
    )


def is_surely_todo(text: str, language: str) -> bool:
    """Whether what is to be noted is most likely something to do: "note to self: buy socks"."""
    return len(text) <= MAX_REQUEST_CHARS and classify_request(text, language)["todo_new"] >= (
        SURELY_TODO
    )


def is_surely_number(text: str, phrases: TaskPhrases, language: str) -> bool:
    """Whether a text that nothing asks in is surely a number to keep: "sugar 6.2 before lunch"."""
    if len(text) > MAX_REQUEST_CHARS or not any(map(str.isdecimal, text)):
        return False
    likely = classify_request(text, language)
    return likely["number_log"] >= SURELY_NUMBER and not phrases.list_cues(text)
