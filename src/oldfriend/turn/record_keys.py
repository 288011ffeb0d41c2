"""Record keys: short ids of the records in a prompt, by which a model cites them.

They are counted anew in each prompt: "k" for what stands in the part that providers cache, "r" for
the rest, so that what changes renumbers nothing that is cached.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from oldfriend.domain.messages import estimate_tokens
from oldfriend.prompts.prompt import Prompt

RECORD_KEY: Final = r"[kr]\d{1,3}"
"""A key, as a regular expression: "k12", "r3"."""
CACHED, UNCACHED = "k", "r"
LONGEST_KEY: Final = "k99"
"""Of nearly all records: by it the tokens of a line are estimated before it has a key."""


@dataclass(slots=True, kw_only=True)
class RecordKeys:
    """The keys of the records that a model was shown in a turn, with the ids of what they show."""

    ids: dict[str, str] = field(default_factory=dict)

    def label(
        self, prompt: Prompt, lines: Sequence[str], ids: Sequence[str], *, is_cached: bool = False
    ) -> list[str]:
        """Return the lines of records, each behind a new key."""
        letter = CACHED if is_cached else UNCACHED
        count = sum(key.startswith(letter) for key in self.ids)
        keys = [f"{letter}{count + number}" for number in range(1, len(lines) + 1)]
        self.ids.update(zip(keys, ids, strict=True))
        return [render_keyed(prompt, *pair) for pair in zip(keys, lines, strict=True)]


def render_keyed(prompt: Prompt, key: str, line: str) -> str:
    """Return the line of a record behind its key."""
    return prompt.render("keyed", key=key, text=line)


def estimate_keyed_tokens(prompt: Prompt, line: str) -> int:
    """Estimate the tokens of a record's line with a key, including its line break."""
    return estimate_tokens(render_keyed(prompt, LONGEST_KEY, line)) + 1
