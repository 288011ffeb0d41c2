"""Prompts: versioned text files that are rendered with values.

A file has a header (name, version, inputs, output) and parts, each under its title. Code fills in
values and decides which parts are used; it adds no words of its own.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

TITLE_PATTERN = re.compile(r"^== (\w+) ==$", re.MULTILINE)
CLOSING_TAG = re.compile(r"</([a-z_]{1,30})>")
ANY_END = re.compile(
    "<[\\s\u200b-\u200f\u2060\ufeff]{0,9}/[\\s\u200b-\u200f\u2060\ufeff]{0,9}(?P<tag>[a-zA-Z_]{1,30})"
)
"""The end of a section, as a model may read one: also in capitals, or with spaces in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One version of one prompt."""

    name: str
    version: int
    inputs: frozenset[str]  # placeholders of all parts
    output: str  # what the model is to return
    parts: Mapping[str, str]

    @property
    def id(self) -> str:
        """The id in call records, receipts and authors, such as "reply/1"."""
        return f"{self.name}/{self.version}"

    def render(self, part: str, **values: str) -> str:
        """Render a part with its values; placeholders within a value are not filled in.

        No value can close a section of the part that it stands in.
        """
        template = self.parts[part]
        tags = CLOSING_TAG.findall(template)
        kept = {name: keep_inside(text, tags) for name, text in values.items()} if tags else values
        return template.format(**kept)


def keep_inside(text: str, tags: Sequence[str]) -> str:
    """Return a text whose ends of these sections, however they are written, are no tags."""
    if "<" not in text:
        return text
    return ANY_END.sub(
        lambda found: f"\u2039{found[0][1:]}" if found["tag"].lower() in tags else found[0], text
    )


def join_prompt_ids(prompt_id: str, further_id: str) -> str:
    """Return the id of a prompt and a possible follow-up prompt: "reflect/3+reword/2"."""
    return f"{prompt_id}+{further_id}" if further_id else prompt_id


def drop_version(author: str) -> str:
    """Return the name in the id of a prompt or of rules: "summarise" of "summarise/1"."""
    return author.partition("/")[0]


def get_reply_prompt() -> Prompt:
    """Return the prompt for replies."""
    return get_prompt("reply/11")


@cache
def get_prompt(name: str) -> Prompt:
    """Load the prompt with this name and version, such as "reply/1"."""
    file = resources.files("oldfriend.prompts") / f"{name}.txt"
    head, *rest = TITLE_PATTERN.split(file.read_text("utf-8"))
    header = dict(line.split(": ", 1) for line in head.strip().splitlines())
    return Prompt(
        name=header["name"],
        version=int(header["version"]),
        inputs=frozenset(header["inputs"].split(", ")),
        output=header["output"],
        parts={title: text.strip() for title, text in zip(rest[::2], rest[1::2], strict=True)},
    )
