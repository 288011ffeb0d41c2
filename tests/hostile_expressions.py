"""The time that each regular expression takes on hostile texts, in a process of its own.

Called with the length of a text; prints as JSON how many there are, and those that take too long.
"""

import gc
import json
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any, Final

from tests.expressions import Expression, Sampler, collect

SHORT: Final = 4_000
"""Characters for which time that grows with their square does not matter."""
EXAMPLES: Final = "tests.expression_examples"
TIMES: Final = 16
"""So much longer a text is for which the time is looked at that its growth takes."""
LOOKED_AT: Final = 4
"""So many texts, of those that take most time while they are short."""
GROWTH: Final = 3
"""So many times more than in proportion to the text is still put down to noise."""
WORST_S: Final = 1.0
"""Where an expression is still at it after so long, it is not waited for any longer."""
UNITS: Final = (
    " ",
    "\t",
    "\n",
    " \n",
    "a",
    "a ",
    "A ",
    "é",
    "ß",
    ".",
    ". ",
    ",",
    ", ",
    "1",
    "1 ",
    "1.",
    "1,",
    '"',
    "'",
    "(",
    "[",
    "[]",
    "{",
    "<",
    "</",
    "I ",
    "and ",
    "I am ",
    "not ",
    "my ",
    "it's ",
    "Ana ",
    "你",
    "我",
    "我的",
    "二十",
    "刚",
    "\u200b",
    "\u3000",
    "\u0301",
    "\ufffc",
    "-",
    "- ",
    "_",
    "|",
    "`",
    "*",
    "#",
    "/",
    "@",
    "a@",
    ":",
    "=",
    "?",
    "a\n",
    "a.",
    "a,",
    "“",
    "«",
    "「",
    "http://a",
    "\x00",
    "😀",
)
"""Again and again, they are hostile to many."""


class TooLong(Exception):
    """An expression has been at a text for too long."""


@dataclass(frozen=True, slots=True)
class Slow:
    """An expression that takes too long, and the text for which it does."""

    expression: Expression
    text: str
    short_s: float
    long_s: float

    def __str__(self) -> str:
        times = f"{1e3 * self.short_s:.2f} ms, then {1e3 * self.long_s:.1f} ms"
        return f"{times} for {self.text[:40]!r}: {self.expression}"


class Clock:
    """Measures the processor time of calls, and ends one that goes on for too long."""

    def __init__(self, length: int) -> None:
        """Listen for the timer, for which an expression looks now and then; and measure the scale.

        What a plain expression takes for a long text some times over is nothing; for short texts
        a plain quadratic one may take its time.
        """
        self._is_on = False
        signal.signal(signal.SIGVTALRM, self._end)
        plain, text = (
            re.compile(r"(?:one|two|three)\b", re.IGNORECASE),
            "a " * (TIMES * length // 2),
        )
        self.least_s = 20 * min(self.cost(plain.search, text) for _ in range(5))
        quadratic, blanks = re.compile(r"\s*x"), " " * SHORT
        self.most_bounded_s = min(self.cost(quadratic.search, blanks) for _ in range(5))

    def cost(self, act: Callable[[Any], object], text: str | bytes) -> float:
        """The seconds of a call; WORST_S for one that takes longer."""
        began = time.thread_time()
        try:
            self._is_on = True
            signal.setitimer(signal.ITIMER_VIRTUAL, WORST_S)
            act(text)
            self._is_on = False
        except TooLong:
            return WORST_S
        finally:
            self._is_on = False
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        return time.thread_time() - began

    def takes_longer(self, most_s: float, act: Callable[[Any], object], text: str | bytes) -> bool:
        """Whether a call takes longer, also when it is made again."""
        return all(self.cost(act, text) > most_s for _ in range(3))

    def _end(self, _signal: int, _frame: FrameType | None) -> None:
        if self._is_on:
            raise TooLong


def texts_for(expression: Expression, length: int) -> Iterator[str]:
    """Hostile texts of a length: those that are so for many, and those made for this one."""
    for unit in UNITS:
        yield stretched(unit, length)
    yield from Sampler(expression.pattern, length=length).texts()


def stretched(unit: str, length: int) -> str:
    """A unit again and again, and then something else."""
    return (unit * (length // len(unit) + 1))[: length - 1] + "\x01"


def find_slow(expression: Expression, *, length: int, clock: Clock) -> Slow | None:
    """The text for which an expression takes too much time; None: there is none."""
    act = expression.pattern.match if expression.is_matched else expression.pattern.search
    if expression.most is not None:
        for text in texts_for(expression, expression.most):
            if clock.takes_longer(clock.most_bounded_s, act, text):
                return Slow(expression, text, clock.most_bounded_s, clock.cost(act, text))
        return None
    as_shown = str.encode if isinstance(expression.pattern.pattern, bytes) else str
    pairs = zip(texts_for(expression, length), texts_for(expression, TIMES * length), strict=True)
    costs = set()
    for short, long in pairs:
        short_s = clock.cost(act, as_shown(short))
        if short_s >= WORST_S:
            return Slow(expression, short, short_s, short_s)
        costs.add((short_s, long))
    for short_s, long in sorted(costs, reverse=True)[:LOOKED_AT]:
        most_s = max(GROWTH * TIMES * short_s, clock.least_s)
        if clock.takes_longer(most_s, act, as_shown(long)):
            return Slow(expression, long, short_s, clock.cost(act, as_shown(long)))
    return None


def main(length: int) -> None:
    """Print what takes too long."""
    gc.disable()
    expressions, clock = collect(EXAMPLES), Clock(length)
    found = (find_slow(each, length=length, clock=clock) for each in expressions)
    slow = [str(each) for each in found if each is not None]
    sys.stdout.write(json.dumps({"expressions": len(expressions), "slow": slow}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
