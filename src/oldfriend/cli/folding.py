"""How do words fit into the lines of a terminal? None is cut at its edge.

Loaded only where there is one; knows nothing of who speaks.
"""

import re
import shutil

from prompt_toolkit.utils import get_cwidth

_PIECES = re.compile(r"\n|[^\S\n]+|[\u2e80-\uffff]|[^\s\u2e80-\uffff]+")
"""Words, what is between them, and each sign of a script that has no such thing between words."""
_WORD = re.compile(r"[^\s\u2e80-\uffff]+")
_TAKEN_BACK = "\x1b[{columns}D\x1b[K"
"""To a terminal: so many columns back, and nothing to the right of there."""


class Folding:
    """Words on their way to a terminal: who does not fit into a line begins the next one.

    Nothing is held back. A word that goes on, and only then does not fit, is taken back and
    written anew in the next line.
    """

    def __init__(self) -> None:
        """Begin at the left."""
        self._column = 0
        self._gap = ""  # before the next word, should it stand in the same line
        self._word = ""  # at the end of the line, and may go on

    def take(self, text: str) -> list[str]:
        """What is to be written now that this has come, piece by piece."""
        width = shutil.get_terminal_size().columns
        return [self._placed(piece, width) for piece in _PIECES.findall(text)]

    def _placed(self, piece: str, width: int) -> str:
        if piece == "\n":
            self._column, self._gap, self._word = 0, "", ""
            return piece
        if piece.isspace():
            self._gap, self._word = piece, ""
            return ""
        begun = self._word if _WORD.fullmatch(piece) else ""
        gap, self._gap = self._gap, ""
        self._word = begun + piece if _WORD.fullmatch(piece) else ""
        if self._column and self._column + len(gap) + get_cwidth(piece) > width:
            back = get_cwidth(begun)
            if back < self._column:  # else the line holds nothing but this word
                gap = f"{_TAKEN_BACK.format(columns=back)}\n{begun}" if begun else "\n"
                self._column = back
        else:
            self._column += len(gap)
        needed = self._column + get_cwidth(piece)
        self._column = (needed - 1) % width + 1  # one that is too long for a line goes on below
        return gap + piece


def folded(text: str) -> str:
    """A whole text, with its lines as they are where they fit."""
    return "".join(Folding().take(text))
