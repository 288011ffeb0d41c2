"""Settings: what is chosen, which models do what, and channels."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

from oldfriend.config.settings_catalog import SettingState
from oldfriend.llm.local_models import LocalModel, LocalServer, describe_fitness, suggest_roles
from oldfriend.llm.providers import is_local_address
from oldfriend.presenters.base_schema import SayingShape, Schema, describe

Value = bool | int | float | str | tuple[str, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(Schema):
    """One setting."""

    name: str = field(metadata=describe(examples=["budget.background_per_day"]))
    value: Value = field(metadata=describe("What holds now."))
    default: Value = field(metadata=describe("What holds without a choice."))
    written: Value = field(metadata=describe("What stands in the file; null: nothing."))
    fixed_by: str | None = field(
        metadata=describe("The variable that wins over the file, if one does.")
    )
    takes_new_start: bool = field(metadata=describe("Whether a change waits for the next start."))

    @classmethod
    def from_domain(cls, state: SettingState) -> Self:
        """Present the state of a setting."""
        return cls(
            name=state.name,
            value=to_value(state.value),
            default=to_value(state.default),
            written=to_value(state.file_value),
            fixed_by=state.overridden_by,
            takes_new_start=state.needs_restart,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices(Schema):
    """Everything that may be chosen here."""

    items: tuple[Choice, ...]
    file: str = field(metadata=describe("Where what is chosen stands."))

    @classmethod
    def from_domain(cls, states: Iterable[SettingState], file: str) -> Self:
        """Present the settings that may be changed, and the file that holds them."""
        return cls(items=tuple(Choice.from_domain(each) for each in states), file=file)


def to_value(value: bool | int | float | str | Sequence[str] | None) -> Value:
    """Present the value of a setting."""
    return value if value is None or isinstance(value, bool | int | float | str) else (*value,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usual(Schema):
    """The names of a provider's models that are usual for each use."""

    main: str | None
    small: str | None
    reflect: str | None
    embedder: str | None
    transcriber: str | None
    speaker: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderShape(Schema):
    """Somebody who has models."""

    name: str = field(metadata=describe(examples=["ollama"]))
    base_url: str
    is_here: bool = field(metadata=describe("On this machine: nothing that is said leaves it."))
    needs_key: bool
    key_in: str | None = field(
        metadata=describe("Where its key is; the key itself is never shown.")
    )
    usual: Usual
    models: tuple[str, ...] = field(
        metadata=describe("What it has, where it is on this machine and answers.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundModel(Schema):
    """A model of a server on this machine."""

    name: str = field(metadata=describe(examples=["qwen3:8b"]))
    good_for: SayingShape
    parameters: int | None = field(metadata=describe("How many it has; null: unknown."))
    context_length: int | None = field(metadata=describe("In tokens; null: unknown."))
    has_tools: bool | None
    thinks: bool | None = field(metadata=describe("Whether it can think before it answers."))
    stays_here: bool = field(metadata=describe("Nothing that is said leaves this machine."))

    @classmethod
    def from_domain(cls, model: LocalModel, *, is_here: bool) -> Self:
        """Present a model of a server, which is on this machine or not."""
        return cls(
            name=model.name,
            good_for=SayingShape.from_domain(describe_fitness(model)),
            parameters=model.parameters,
            context_length=model.context_length,
            has_tools=model.has_tools,
            thinks=model.thinks,
            stays_here=is_here and not model.is_cloud,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundServer(Schema):
    """A server of models that was found and is not used unless it is chosen."""

    provider: str = field(metadata=describe(examples=["ollama"]))
    base_url: str
    models: tuple[FoundModel, ...]
    suggested: str | None = field(
        metadata=describe("The model to choose for replies; null: it has none for that.")
    )

    @classmethod
    def from_domain(cls, server: LocalServer) -> Self:
        """Present a server and its models."""
        is_here = is_local_address(server.base_url)
        return cls(
            provider=server.provider,
            base_url=server.base_url,
            models=tuple(FoundModel.from_domain(model, is_here=is_here) for model in server.models),
            suggested=suggest_roles(server).get("main"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Models(Schema):
    """Who does what."""

    main: tuple[str, ...]
    small: tuple[str, ...]
    reflect: tuple[str, ...]
    embedder: str
    transcriber: str | None
    speaker: str | None
    voice: str
    providers: tuple[ProviderShape, ...]
    found: tuple[FoundServer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried(Schema):
    """What came of trying a model."""

    works: bool
    told: SayingShape = field(metadata=describe("What it said, or why it does not work."))
    took_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept(Schema):
    """What was kept."""

    key_in: str | None = field(metadata=describe("Where the key went, if there was one."))
    takes_new_start: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired(Schema):
    """Somebody who talks on a channel."""

    name: str
    addresses: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelShape(Schema):
    """How people talk on a channel."""

    is_connected: bool
    is_mine: bool = field(metadata=describe("Whether you are known there."))
    bot: str | None = field(
        metadata=describe("What the bot is called; null where it is not known.")
    )
    token_in: SayingShape | None = field(
        metadata=describe("Where its token is. Null for all but the owner.")
    )
    people: tuple[Paired, ...] = field(
        metadata=describe("Who is known there. Empty for all but the owner.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Bot(Schema):
    """The bot that was connected."""

    name: str
    token_in: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Code(Schema):
    """A code to be sent to the bot."""

    code: str = field(metadata=describe(examples=["123456"]))
    expires_at: str
    link: str | None = field(
        metadata=describe("Opens the bot with the code; null: its name is unknown.")
    )
    qr: str | None = field(
        metadata=describe("The link as the path of a QR code, in `qr_size` units.")
    )
    qr_size: int = 0
