"""Schemas for core blocks, the companion name and suggestions."""

from typing import Literal

from pydantic import Field

from oldfriend.api.requests import RequestModel as ApiModel
from oldfriend.api.schemas.imports import LikelyCost
from oldfriend.memory.core_blocks import MAX_BLOCK_LENGTH, BlockName
from oldfriend.memory.people import MAX_COMPANION_NAME_LENGTH


class BlockShape(ApiModel):
    """One block, in people's words."""

    name: BlockName
    version: int = Field(description="0: nothing was ever written.")
    text: str
    written_at: str | None


class SoulShape(ApiModel):
    """Who the companion is to everybody, as SOUL.md says."""

    version: int
    text: str
    read_at: str


class StartingShape(ApiModel):
    """A persona and a style to begin with."""

    name: str
    about: str
    persona: str
    style: str


class SuggestionShape(ApiModel):
    """Words for a block that wait for a decision."""

    id: str
    block: BlockName
    text: str
    replaces: str = Field(description="The words it stands in for; empty: it is added.")
    reason: str
    by: str
    status: Literal["pending", "accepted", "declined"]
    made_at: str


class CompanionNamed(ApiModel):
    """What the companion is called, by everybody here."""

    name: str = Field(max_length=4 * MAX_COMPANION_NAME_LENGTH, examples=["Mira"])


class Character(ApiModel):
    """Who is who."""

    name: str = Field(description="What the companion is called.", examples=["Mira"])
    longest_name: int = Field(description="So many characters fit in its name.")
    blocks: list[BlockShape]
    longest: int = Field(description="So many characters fit in a block.")
    soul: SoulShape | None
    soul_file: str | None = Field(description="Where SOUL.md is written: for the owner.")
    starting: list[StartingShape]
    suggestions: list[SuggestionShape]


class Material(ApiModel):
    """Words from which blocks can be drafted; nothing of them is kept."""

    text: str = Field(
        min_length=1, max_length=1_000_000, examples=["An old lighthouse keeper, in no hurry …"]
    )
    with_model: bool = Field(default=False, description="Have the small model read it.")


class Foreseen(ApiModel):
    """What it would take to have a model read some words."""

    pieces: int
    likely_cost: LikelyCost | None = Field(description="None: no model is connected.")


class Drafted(ApiModel):
    """What was drafted: suggestions, of which each is to be decided."""

    suggestions: list[SuggestionShape]
    is_rough: bool = Field(description="By plain rules, without a model: much is missed.")
    left_out: dict[str, int] = Field(description="What belongs elsewhere, and how much of it.")


class BlockWritten(ApiModel):
    """What a block is to say; empty words empty it."""

    text: str = Field(
        max_length=4 * MAX_BLOCK_LENGTH, examples=["Warm, exact, and never in a hurry."]
    )


class VersionShape(ApiModel):
    """One version of a block, with what it changed."""

    version: int
    written_at: str
    text: str
    lines: list[str] = Field(description="What changed since before: “- ” gone, “+ ” new.")


class Versions(ApiModel):
    """Every version of a block, the newest first."""

    items: list[VersionShape]
    next: str | None = Field(description="The cursor of older ones.")


class Decision(ApiModel):
    """What a person decides about a suggestion."""

    verdict: Literal["accept", "decline"]
    words: str | None = Field(
        default=None,
        max_length=4 * MAX_BLOCK_LENGTH,
        description="To accept it in other words.",
        examples=["You like short answers in the evening."],
    )
