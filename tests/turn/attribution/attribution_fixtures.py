"""What a finder takes for borrowed in a text."""

from collections.abc import Iterable

from oldfriend.turn.attribution.spans import BorrowedSpan


def words_in(text: str, stretches: Iterable[BorrowedSpan]) -> list[str]:
    """Return the words of stretches, without the blanks around them."""
    return [text[each.start : each.end].strip() for each in stretches]
