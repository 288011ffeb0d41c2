"""From what may a companion start? Reads the personas beside it, each a text with a header.

They are in English: a model answers in the language of the person, whatever its instructions are
in. Code adds no words of its own.
"""

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

from oldfriend.prompts.prompt import TITLE

FOLDER: Final = "personas"


@dataclass(frozen=True, slots=True, kw_only=True)
class StartingPoint:
    """A persona with its style, to start from."""

    name: str
    version: int
    about: str  # in one line
    persona: str
    style: str


BLANK: Final = StartingPoint(
    name="blank", version=1, about="nothing; you write it yourself", persona="", style=""
)


@cache
def starting_points() -> dict[str, StartingPoint]:
    """All of them by name, the blank one first."""
    files = resources.files("oldfriend.prompts") / FOLDER
    texts = [file.read_text("utf-8") for file in files.iterdir() if file.name.endswith(".md")]
    points = sorted(map(starting_point_from, texts), key=lambda point: point.name)
    return {point.name: point for point in (BLANK, *points)}


def starting_point_from(text: str) -> StartingPoint:
    """A starting point as its file has it."""
    head, *rest = TITLE.split(text)
    header = dict(line.split(": ", 1) for line in head.strip().splitlines())
    parts = {title: part.strip() for title, part in zip(rest[::2], rest[1::2], strict=True)}
    return StartingPoint(
        name=header["name"], version=int(header["version"]), about=header["about"],
        persona=parts["persona"], style=parts["style"],
    )  # fmt: skip
