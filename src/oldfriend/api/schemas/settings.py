"""Schemas for settings, models, Telegram, spending, jobs and health."""

from typing import Literal

from pydantic import ConfigDict, Field

from oldfriend.api.requests import RequestModel as ApiModel
from oldfriend.domain.job_types import QueueName
from oldfriend.llm.providers import ApiKind
from oldfriend.presenters.localized import SayingShape

Value = bool | int | float | str | list[str] | None


class Choice(ApiModel):
    """One setting."""

    name: str = Field(examples=["budget.background_per_day"])
    value: Value = Field(description="What holds now.")
    default: Value = Field(description="What holds without a choice.")
    written: Value = Field(description="What stands in the file; null: nothing.")
    fixed_by: str | None = Field(description="The variable that wins over the file, if one does.")
    takes_new_start: bool = Field(description="Whether a change waits for the next start.")


class Choices(ApiModel):
    """Everything that may be chosen here."""

    items: list[Choice]
    file: str = Field(description="Where what is chosen stands.")


class Chosen(ApiModel):
    """What is to be chosen; null: as usual."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"values": {"budget.background_per_day": 0.5}}]}
    )
    values: dict[str, Value] = Field(min_length=1, max_length=50)


class Usual(ApiModel):
    """The names of a provider's models that are usual for each use."""

    main: str | None
    small: str | None
    reflect: str | None
    embedder: str | None
    transcriber: str | None
    speaker: str | None


class ProviderShape(ApiModel):
    """Somebody who has models."""

    name: str = Field(examples=["ollama"])
    base_url: str
    is_here: bool = Field(description="On this machine: nothing that is said leaves it.")
    needs_key: bool
    key_in: str | None = Field(description="Where its key is; the key itself is never shown.")
    usual: Usual
    models: list[str] = Field(description="What it has, where it is on this machine and answers.")


class Models(ApiModel):
    """Who does what."""

    main: list[str]
    small: list[str]
    reflect: list[str]
    embedder: str
    transcriber: str | None
    speaker: str | None
    voice: str
    providers: list[ProviderShape]


class ModelWanted(ApiModel):
    """A model that is to be tried, or chosen."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"provider": "ollama", "name": "llama3.2"}]}
    )
    provider: str = Field(max_length=60, description="Such as ollama; `local` for this program.")
    name: str = Field(default="", max_length=300, description="Of the model, or of its folder.")
    base_url: str | None = Field(default=None, max_length=500)
    kind: ApiKind | None = Field(
        default=None, description="Which interface it has, where not usual."
    )
    key: str | None = Field(default=None, max_length=4096, description="Kept, and never shown.")
    voice: str | None = Field(default=None, max_length=100, description="Of who speaks.")


class Tried(ApiModel):
    """What came of trying a model."""

    works: bool
    told: SayingShape = Field(description="What it said, or why it does not work.")
    took_ms: int


class Kept(ApiModel):
    """What was kept."""

    key_in: str | None = Field(description="Where the key went, if there was one.")
    takes_new_start: bool


class Paired(ApiModel):
    """Somebody who talks on Telegram."""

    name: str
    addresses: int


class TelegramShape(ApiModel):
    """How people talk on Telegram."""

    is_connected: bool
    is_mine: bool = Field(description="Whether you are known there.")
    bot: str | None = Field(description="What the bot is called; null where it is not known.")
    token_in: SayingShape | None = Field(
        description="Where its token is. Null for all but the owner."
    )
    people: list[Paired] = Field(description="Who is known there. Empty for all but the owner.")


class BotToken(ApiModel):
    """What @BotFather gives."""

    token: str = Field(
        min_length=1,
        max_length=200,
        description="Checked, kept, and never shown.",
        examples=["123456789:AAExampleExampleExampleExampleExample"],
    )


class Bot(ApiModel):
    """The bot that was connected."""

    name: str
    token_in: str


class Code(ApiModel):
    """A code to be sent to the bot."""

    code: str = Field(examples=["123456"])
    expires_at: str
    link: str | None = Field(description="Opens the bot with the code; null: its name is unknown.")
    qr: str | None = Field(description="The link as the path of a QR code, in `qr_size` units.")
    qr_size: int = 0


class Sum(ApiModel):
    """What was spent under a heading."""

    heading: str = Field(examples=["reply"])
    calls: int
    failed: int
    tokens_in: int
    tokens_out: int
    dollars: float | None = Field(description="Null: nobody knows what it cost.")
    unknown_calls: int
    unpriced_tokens: int = Field(description="In and out, of calls whose cost nobody knows.")


class Left(ApiModel):
    """What may still be spent today."""

    purpose: Literal["background", "everything"]
    dollars: float | None = Field(description="Null: there is no limit.")
    tokens: int | None
    unpriced_tokens: int | None = Field(
        description="Of models without a known price. Null: there is no limit."
    )
    is_used_up: bool


class Spending(ApiModel):
    """What models have cost."""

    days: int
    total: Sum
    by_purpose: list[Sum]
    by_model: list[Sum]
    by_day: list[Sum] = Field(description="The last first; only days on which there was any.")
    left: list[Left]


class LetterShape(ApiModel):
    """Something that waits, or was set aside; without a word of what it says."""

    id: str
    queue: QueueName
    person: str | None
    since: str
    due_at: str
    attempts: int
    is_parked: bool
    error: SayingShape | None = Field(description="Of which kind it was; without its words.")


class Letters(ApiModel):
    """What waits."""

    items: list[LetterShape]
    next: str | None = Field(description="The cursor of the next page.")
