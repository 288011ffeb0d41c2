"""What is told beside a talk, so that it is neither taken for the reply nor read by a program."""

import sys
from typing import Final

GREY: Final = "\x1b[90m{}\x1b[0m"


def remark(text: str) -> None:
    """Show a line on the error stream; in grey where somebody looks at it."""
    print(GREY.format(text) if sys.stderr.isatty() else text, file=sys.stderr, flush=True)
