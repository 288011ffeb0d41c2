"""How do words fit into the lines of a terminal? None is cut at its edge.

Loaded only where there is one; knows nothing of who speaks.
"""

import re
import shutil

from prompt_toolkit.utils import get_cwidth

_PIECES = re.compile(r"\n|[^\S\n]+|[\u2e80-\uffff]|[^\s\u2e80-\uffff]+")
"""Words, what is between them, and each sign of a script that has no such thing between words."""
_MAY_GO_ON = re.compile(r"[^\s\u2e80-\uffff]+\Z")


class Folding:
    """Words on their way to a terminal: who does not fit into a line begins the next one."""

    def __init__(self) -> None:
        """Begin at the left."""
        self._column = 0
        self._gap = ""  # before the next word, should it stand in the same line
        self._begun = ""  # a word whose end may be still to come

    def take(self, text: str) -> list[str]:
        """What can be written now that this has come, word by word."""
        text = self._begun + text
        cut = _MAY_GO_ON.search(text)
        self._begun = cut[0] if cut else ""
        return self._laid_out(text[: len(text) - len(self._begun)])

    def rest(self) -> str:
        """The last word, to which nothing comes any more."""
        begun, self._begun = self._begun, ""
        return "".join(self._laid_out(begun))

    def _laid_out(self, text: str) -> list[str]:
        width = shutil.get_terminal_size().columns
        return [self._placed(piece, width) for piece in _PIECES.findall(text)]

    def _placed(self, piece: str, width: int) -> str:
        if piece == "\n":
            self._column, self._gap = 0, ""
            return piece
        if piece.isspace():
            self._gap = piece
            return ""
        gap, self._gap = self._gap, ""
        needed = get_cwidth(piece)
        if self._column and self._column + len(gap) + needed > width:
            gap, self._column = "\n", 0
        else:
            self._column += len(gap)
        self._column = (self._column + needed - 1) % width + 1  # a long one goes on below
        return gap + piece


def folded(text: str) -> str:
    """A whole text, with its lines as they are where they fit."""
    folding = Folding()
    return "".join(folding.take(text)) + folding.rest()
