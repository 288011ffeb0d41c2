"""How is a cause put into plain words? For ``why``, for recall's hits, for programs."""

from oldfriend.memory.search import Reason


def in_words(reason: Reason) -> str:
    """One cause as a short phrase, such as: the words "boat" and "name"."""
    words = " and ".join(f"“{word}”" for word in reason.words)
    match reason.cause:
        case "words":
            return f"it holds the word{'s' if len(reason.words) > 1 else ''} {words}"
        case "words_near":
            return f"the messages around it hold {words}" if words else "its neighbours match"
        case "meaning":
            return "it is close in meaning"
        case "said_by":
            return f"{reason.name} said it" if reason.name else "the one you ask about said it"
        case "own_words":
            return "you said it yourself"
        case "mentions":
            return f"it speaks of {reason.name}" if reason.name else "it speaks of who you mean"
        case "date":
            return "it was said when you ask about"
        case "session":
            return "that whole conversation is about it"
        case "answers":
            return "it answers the message before it"


def reasons_in_words(reasons: tuple[Reason, ...]) -> list[str]:
    """Causes as phrases, the strongest first."""
    return [in_words(reason) for reason in sorted(reasons, key=lambda each: -each.strength)]
