"""Quote overlap: whether two quotes of a message share some of its text."""


def do_words_overlap(text: str, one: str, other: str) -> bool:
    """Return whether two stretches of a text share some of it; so if one is not found in it."""
    folded = text.casefold()
    first, second = folded.find(one.casefold()), folded.find(other.casefold())
    if first < 0 or second < 0:
        return True
    return first < second + len(other) and second < first + len(one)
