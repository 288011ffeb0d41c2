"""Reason texts: words the reasons for a belief or search hit, for ``why``, recall and programs."""

from collections.abc import Mapping
from typing import Final

from oldfriend.domain.json import JsonValue
from oldfriend.search import Reason, ReasonCause
from oldfriend.turn.receipt_items import INFERRED_KEY

REASON_PHRASES: dict[ReasonCause, str] = {
    "words": "it says {words}",
    "words_near": "the messages around it say {words}",
    "words_like": "it says something like {words}",
    "meaning": "it means something similar",
    "said_by": "{name} said it",
    "own_words": "you said it yourself",
    "mentions": "it speaks of {name}",
    "date": "it was said when you ask about",
    "session": "that whole conversation is about it",
    "answers": "it answers the message before it",
    "asked_for": "it is what you ask for",
    "reached": "it is connected to {name}",
}

LIKELIHOODS: Final = ((0.9, "very likely"), (0.6, "likely"), (0.3, "possible"), (0.0, "unlikely"))
"""From which probability something is called so."""


def format_reason(reason: Reason) -> str:
    """Return a reason as a short phrase, such as: it says “boat” and “name”."""
    words = " and ".join(f"“{word}”" for word in reason.words)
    return REASON_PHRASES[reason.cause].format(
        words=words or "such words", name=reason.name or "the one you ask about"
    )


def format_reasons(reasons: tuple[Reason, ...]) -> list[str]:
    """Return reasons as phrases, the strongest first."""
    return [format_reason(reason) for reason in sort_reasons(reasons)]


def sort_reasons(reasons: tuple[Reason, ...]) -> list[Reason]:
    """Return reasons, the strongest first."""
    return sorted(reasons, key=lambda each: -each.strength)


def name_likelihood(probability: float) -> str:
    """Say in words how likely something is."""
    return next(words for least, words in LIKELIHOODS if probability >= least)


INTENT_TEXTS: Final[Mapping[str, str]] = {
    "question": "You asked something, so I searched everything that you and others said.",
    "statement": "You told me something, so I looked for anything earlier that it relates to.",
    "about_me": "You asked what I know about you, so I told you, and read your notes.",
    "promises": "You asked what is promised or expected, so I listed what is still open.",
    "why_so": "You asked why, so I named the words that my previous answer was based on.",
    "believed_then": "You asked what I believed at another time, so I looked up what it was then.",
    "remember": "You asked me to remember something, so I noted your exact words.",
}

HANDLED_TEXTS: Final[Mapping[str, str]] = {
    "tasks": "something about your reminders and to-dos",
    "goals": "something about your goals",
    "goal progress": "something that counts for one of your goals",
    "actions": "to do something at a time",
    "watches": "something about the pages that I watch for you",
    "measurement": "something about your numbers",
    "diary": "something about your diary",
    "agenda": "what is on",
    "calculator": "something that can be calculated",
    "clock": "the time or the day",
    "help": "what you can ask for",
    "speaking first": "something about when I write of my own accord",
    "read_page": "to read a page",
}


def format_handled(details: Mapping[str, JsonValue]) -> str:
    """Format what rules did at once, and how they read open hours; empty if they did nothing."""
    names = details.get("handled")
    if not isinstance(names, list) or not names:
        return ""
    known = (HANDLED_TEXTS.get(str(each), f"something about {each}") for each in names)
    how = "Fixed rules read it, without a model, and my reply says what they did."
    read = [f" I read “{words}” as {time}." for words, time in list_inferred(details)]
    return f"You asked or told me {' and '.join(known)}. {how}{''.join(read)}"


def list_inferred(details: Mapping[str, JsonValue]) -> list[tuple[JsonValue, JsonValue]]:
    """Return the words of a receipt whose time was inferred, each with that time."""
    pairs = details.get(INFERRED_KEY)
    lists = [each for each in pairs if isinstance(each, list)] if isinstance(pairs, list) else []
    return [(words, time) for words, time in lists]
