"""Reason texts: words the reasons for a belief or search hit, for ``why``, recall and programs."""

from oldfriend.search import Reason, ReasonCause

REASON_PHRASES: dict[ReasonCause, str] = {
    "words": "it holds {words}",
    "words_near": "the messages around it hold {words}",
    "words_like": "it holds words like {words}",
    "meaning": "it is close in meaning",
    "said_by": "{name} said it",
    "own_words": "you said it yourself",
    "mentions": "it speaks of {name}",
    "date": "it was said when you ask about",
    "session": "that whole conversation is about it",
    "answers": "it answers the message before it",
    "asked_for": "it is what you ask for",
    "reached": "it is reached through {name}",
}


def format_reason(reason: Reason) -> str:
    """Return a reason as a short phrase, such as: it holds “boat” and “name”."""
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
