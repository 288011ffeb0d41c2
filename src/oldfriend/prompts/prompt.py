"""What do we say to a language model? Reads the versioned text files beside it.

A file has a header (name, version, inputs, output) and parts, each under its title. Code fills in
values and decides which parts are used; it adds no words of its own. Knows no model.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

TITLE = re.compile(r"^== (\w+) ==$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One version of one prompt."""

    name: str
    version: int
    inputs: frozenset[str]  # what is filled in, over all parts
    output: str  # what the model is to give back
    parts: Mapping[str, str]

    @property
    def id(self) -> str:
        """As the ledger, receipts and authors name it, such as "reply/1"."""
        return f"{self.name}/{self.version}"

    def render(self, part: str, **values: str) -> str:
        """A part with its values filled in; what a value holds is never filled in again."""
        return self.parts[part].format(**values)


def joined(prompt: str, further: str) -> str:
    """What was asked by one prompt, and then by a further one, if by any: "reflect/2+reword/1"."""
    return f"{prompt}+{further}" if further else prompt


def reply_prompt() -> Prompt:
    """The prompt that replies are written by."""
    return get_prompt("reply/3")


@cache
def get_prompt(name: str) -> Prompt:
    """The prompt with this name and version, such as "reply/1"."""
    file = resources.files("oldfriend.prompts") / f"{name}.txt"
    head, *rest = TITLE.split(file.read_text("utf-8"))
    header = dict(line.split(": ", 1) for line in head.strip().splitlines())
    return Prompt(
        name=header["name"],
        version=int(header["version"]),
        inputs=frozenset(header["inputs"].split(", ")),
        output=header["output"],
        parts={title: text.strip() for title, text in zip(rest[::2], rest[1::2], strict=True)},
    )
