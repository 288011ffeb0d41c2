"""How is a cause put into plain words? For ``why``, for recall's hits, for programs."""

from oldfriend.memory.search import Cause, Reason

PHRASES: dict[Cause, str] = {
    "words": "it holds {words}",
    "words_near": "the messages around it hold {words}",
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


def in_words(reason: Reason) -> str:
    """One cause as a short phrase, such as: it holds “boat” and “name”."""
    words = " and ".join(f"“{word}”" for word in reason.words)
    return PHRASES[reason.cause].format(
        words=words or "such words", name=reason.name or "the one you ask about"
    )


def reasons_in_words(reasons: tuple[Reason, ...]) -> list[str]:
    """Causes as phrases, the strongest first."""
    return [in_words(reason) for reason in strongest_first(reasons)]


def strongest_first(reasons: tuple[Reason, ...]) -> list[Reason]:
    """Causes as they are told."""
    return sorted(reasons, key=lambda each: -each.strength)
