"""Starter personas: the texts from which a companion's persona can start.

Read from the files in ``personas``, each a text with a header. They are in English: a model answers
in the language of the person, whatever language its instructions are in. Code adds no words of its
own.
"""

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

from oldfriend.prompts.prompt import TITLE_PATTERN

PERSONA_FOLDER: Final = "personas"


@dataclass(frozen=True, slots=True, kw_only=True)
class StarterPersona:
    """A persona and style to start from."""

    name: str
    version: int
    summary: str  # in one line
    persona: str
    style: str


BLANK_PERSONA: Final = StarterPersona(
    name="blank", version=1, summary="nothing; you write it yourself", persona="", style=""
)


@cache
def load_starter_personas() -> dict[str, StarterPersona]:
    """Load all starter personas by name, the blank one first."""
    files = resources.files("oldfriend.prompts") / PERSONA_FOLDER
    texts = [file.read_text("utf-8") for file in files.iterdir() if file.name.endswith(".md")]
    personas = sorted(map(parse_starter_persona, texts), key=lambda persona: persona.name)
    return {persona.name: persona for persona in (BLANK_PERSONA, *personas)}


def parse_starter_persona(text: str) -> StarterPersona:
    """Parse a starter persona from the text of its file."""
    head, *rest = TITLE_PATTERN.split(text)
    header = dict(line.split(": ", 1) for line in head.strip().splitlines())
    parts = {title: part.strip() for title, part in zip(rest[::2], rest[1::2], strict=True)}
    return StarterPersona(
        name=header["name"],
        version=int(header["version"]),
        summary=header["about"],
        persona=parts["persona"],
        style=parts["style"],
    )
