"""Texts that a regular expression matches, made from its parts at random."""

import importlib
from random import Random
from typing import Any

_parser: Any = importlib.import_module("re._parser")
MOST_REPEATED = 2
OF_A_KIND = {"CATEGORY_WORD": "x", "CATEGORY_DIGIT": "1", "CATEGORY_SPACE": " "}


def expand(source: str, random: Random) -> str:
    """A text that the expression matches, as far as lookarounds and boundaries allow."""
    return _expanded(_parser.parse(source), random)


def _expanded(parts: Any, random: Random) -> str:
    return "".join(_part(str(kind), what, random) for kind, what in parts)


def _part(kind: str, what: Any, random: Random) -> str:
    match kind:
        case "LITERAL":
            return chr(what)
        case "BRANCH":
            return _expanded(random.choice(what[1]), random)
        case "SUBPATTERN":
            return _expanded(what[3], random)
        case "MAX_REPEAT" | "MIN_REPEAT":
            least, most, inside = what
            times = random.randint(least, min(most, least + MOST_REPEATED))
            return "".join(_expanded(inside, random) for _ in range(times))
        case "IN":
            return _one_of(what, random)
        case "ANY" | "NOT_LITERAL":
            return "x"
        case _:  # a place, or what must or must not stand there
            return ""


def _one_of(what: Any, random: Random) -> str:
    kind, value = random.choice(what)
    match str(kind):
        case "LITERAL":
            return chr(value)
        case "RANGE":
            return chr(value[0])
        case "CATEGORY":
            return OF_A_KIND.get(str(value), "x")
        case _:
            return "x"
