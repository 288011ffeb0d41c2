"""Who is the companion, who is the person, how does it talk? The forms for it."""

from typing import Literal

from pydantic import Field

from oldfriend.memory.core_blocks import LONGEST_BLOCK, BlockName
from oldfriend.memory.people import LONGEST_COMPANION_NAME
from oldfriend.web.shapes.bringing import LikelyCost
from oldfriend.web.shapes.common import Shape


class BlockShape(Shape):
    """One block, in people's words."""

    name: BlockName
    version: int = Field(description="0: nothing was ever written.")
    text: str
    written_at: str | None


class SoulShape(Shape):
    """Who the companion is to everybody, as SOUL.md says."""

    version: int
    text: str
    read_at: str


class StartingShape(Shape):
    """A persona and a style to begin with."""

    name: str
    about: str
    persona: str
    style: str


class SuggestionShape(Shape):
    """Words for a block that wait for a decision."""

    id: str
    block: BlockName
    text: str
    replaces: str = Field(description="The words it stands in for; empty: it is added.")
    reason: str
    by: str
    status: Literal["pending", "accepted", "declined"]
    made_at: str


class CompanionNamed(Shape):
    """What the companion is called, by everybody here."""

    name: str = Field(max_length=4 * LONGEST_COMPANION_NAME, examples=["Mira"])


class Character(Shape):
    """Who is who."""

    name: str = Field(description="What the companion is called.", examples=["Mira"])
    longest_name: int = Field(description="So many characters fit in its name.")
    blocks: list[BlockShape]
    longest: int = Field(description="So many characters fit in a block.")
    soul: SoulShape | None
    soul_file: str | None = Field(description="Where SOUL.md is written: for the owner.")
    starting: list[StartingShape]
    suggestions: list[SuggestionShape]


class Material(Shape):
    """Words from which blocks can be drafted; nothing of them is kept."""

    text: str = Field(
        min_length=1, max_length=1_000_000, examples=["An old lighthouse keeper, in no hurry …"]
    )
    with_model: bool = Field(default=False, description="Have the small model read it.")


class Foreseen(Shape):
    """What it would take to have a model read some words."""

    pieces: int
    likely_cost: LikelyCost | None = Field(description="None: no model is connected.")


class Drafted(Shape):
    """What was drafted: suggestions, of which each is to be decided."""

    suggestions: list[SuggestionShape]
    is_rough: bool = Field(description="By plain rules, without a model: much is missed.")
    left_out: dict[str, int] = Field(description="What belongs elsewhere, and how much of it.")


class BlockWritten(Shape):
    """What a block is to say; empty words empty it."""

    text: str = Field(max_length=4 * LONGEST_BLOCK, examples=["Warm, exact, and never in a hurry."])


class VersionShape(Shape):
    """One version of a block, with what it changed."""

    version: int
    written_at: str
    text: str
    lines: list[str] = Field(description="What changed since before: “- ” gone, “+ ” new.")


class Versions(Shape):
    """Every version of a block, the newest first."""

    items: list[VersionShape]
    next: str | None = Field(description="The cursor of older ones.")


class Decision(Shape):
    """What a person decides about a suggestion."""

    verdict: Literal["accept", "decline"]
    words: str | None = Field(
        default=None, max_length=4 * LONGEST_BLOCK, description="To accept it in other words.",
        examples=["You like short answers in the evening."],
    )  # fmt: skip
