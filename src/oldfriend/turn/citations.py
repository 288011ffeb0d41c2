"""Citations: the keys of the records in a prompt, and those that a model says its reply rests on.

Each record bears a key that is counted anew in each prompt: "k" for what stands in the part that
providers cache, "r" for the rest, so that what changes renumbers nothing that is cached.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from oldfriend.llm.model import CompletionRequest, PromptTurn
from oldfriend.prompts.prompt import Prompt
from oldfriend.turn.markers import CITATION, RECORD_KEY, Marker, squeeze
from oldfriend.turn.memory_context import estimate_line_tokens

KEY: Final = re.compile(rf"\b{RECORD_KEY}\b", re.IGNORECASE)
NONE: Final = re.compile(r"\W{0,3}none\b", re.IGNORECASE)
STABLE, CHANGING = "k", "r"
LONGEST_KEY: Final = "k99"
"""Of nearly all records: by it the tokens of a line are estimated before it has a key."""


@dataclass(slots=True, kw_only=True)
class RecordKeys:
    """The keys of the records that a model was shown in a turn, with the ids of what they show."""

    ids: dict[str, str] = field(default_factory=dict)

    def label(
        self, prompt: Prompt, lines: Sequence[str], ids: Sequence[str], *, is_stable: bool = False
    ) -> list[str]:
        """Return the lines of records, each behind a new key."""
        letter = STABLE if is_stable else CHANGING
        count = sum(key.startswith(letter) for key in self.ids)
        keys = [f"{letter}{count + number}" for number in range(1, len(lines) + 1)]
        self.ids.update(zip(keys, ids, strict=True))
        return [render_keyed(prompt, *pair) for pair in zip(keys, lines, strict=True)]


def render_keyed(prompt: Prompt, key: str, line: str) -> str:
    """Return the line of a record behind its key."""
    return prompt.render("keyed", key=key, text=line)


def estimate_keyed_tokens(prompt: Prompt, line: str) -> int:
    """Estimate the tokens of a record's line with a key, including its line break."""
    return estimate_line_tokens(render_keyed(prompt, LONGEST_KEY, line))


def find_cited_records(
    markers: Sequence[Marker], request: CompletionRequest, keys: RecordKeys
) -> tuple[str, ...] | None:
    """Return the ids of the records that a model says its reply rests on, as it names them.

    None if it says nothing: no citation, none that names a record of the prompt, or only such as
    stand in what it was given to read and are thus not its own.
    """
    written = [each.payload for each in markers if each.name == CITATION]
    own = [*list_own(written, request)] if written else []
    named = (key.lower() for payload in own for key in KEY.findall(payload))
    cited = tuple(dict.fromkeys(keys.ids[key] for key in named if key in keys.ids))
    return cited if cited or any(map(NONE.match, own)) else None


def list_own(written: Sequence[str], request: CompletionRequest) -> Iterator[str]:
    """Yield what does not stand so in what a model was given to read, but for its own words."""
    given = [
        turn.text
        for turn in request.turns
        if not (isinstance(turn, PromptTurn) and turn.role == "companion")
    ]
    read = "\n".join([request.system_prompt, request.call_instructions, *given])
    squeezed = squeeze(read)
    for each in written:
        is_within_sentence = each.startswith(("[", "("))
        is_read = each in read if is_within_sentence else squeeze(f"{CITATION}{each}") in squeezed
        if not is_read:
            yield each
