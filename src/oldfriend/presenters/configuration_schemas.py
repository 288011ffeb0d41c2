"""Settings: what is chosen, which models do what, and channels."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from oldfriend.config.settings_catalog import SettingState
from oldfriend.llm.local_models import LocalModel, LocalServer, describe_fitness, suggest_roles
from oldfriend.llm.providers import is_local_address
from oldfriend.presenters.base_schema import LocalizedTextSchema, Schema, describe

Value = bool | int | float | str | tuple[str, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingSchema(Schema):
    """A setting."""

    name: str = field(metadata=describe(examples=["budget.background_per_day"]))
    value: Value = field(metadata=describe("The current value."))
    default: Value = field(metadata=describe("The default value."))
    written: Value = field(
        metadata=describe("The value in the settings file; null if there is none.")
    )
    fixed_by: str | None = field(
        metadata=describe("The environment variable that overrides the file, if any.")
    )
    takes_new_start: bool = field(
        metadata=describe("Whether a change takes effect only at the next start.")
    )

    @classmethod
    def from_domain(cls, setting_state: SettingState) -> Self:
        """Present the state of a setting."""
        return cls(
            name=setting_state.name,
            value=to_value(setting_state.value),
            default=to_value(setting_state.default),
            written=to_value(setting_state.file_value),
            fixed_by=setting_state.overridden_by,
            takes_new_start=setting_state.needs_restart,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingListSchema(Schema):
    """The settings that can be changed here."""

    items: tuple[SettingSchema, ...]
    file: str = field(metadata=describe("The path of the settings file."))

    @classmethod
    def from_domain(cls, states: Iterable[SettingState], file: str) -> Self:
        """Present the settings that may be changed, and the file that holds them."""
        return cls(items=tuple(SettingSchema.from_domain(each) for each in states), file=file)


def to_value(value: bool | int | float | str | Sequence[str] | None) -> Value:
    """Present the value of a setting."""
    return value if value is None or isinstance(value, bool | int | float | str) else (*value,)


@dataclass(frozen=True, slots=True, kw_only=True)
class DefaultModelsSchema(Schema):
    """A provider's default models for each use."""

    main: str | None
    small: str | None
    reflect: str | None
    embedder: str | None
    transcriber: str | None
    speaker: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSchema(Schema):
    """A provider of models."""

    name: str = field(metadata=describe(examples=["ollama"]))
    base_url: str
    is_here: bool = field(
        metadata=describe("Whether it is on this machine, which nothing that is said then leaves.")
    )
    needs_key: bool
    key_in: str | None = field(
        metadata=describe("Where its key is stored. The key itself is never shown.")
    )
    usual: DefaultModelsSchema
    models: tuple[str, ...] = field(
        metadata=describe("Its models, if it is on this machine and answers.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectedModelSchema(Schema):
    """A model that was found on a server on this machine."""

    name: str = field(metadata=describe(examples=["qwen3:8b"]))
    good_for: LocalizedTextSchema
    parameters: int | None = field(metadata=describe("The number of parameters; null if unknown."))
    context_length: int | None = field(
        metadata=describe("The context length in tokens; null if unknown.")
    )
    has_tools: bool | None
    thinks: bool | None = field(metadata=describe("Whether it can reason before it answers."))
    stays_here: bool = field(metadata=describe("Whether nothing that is said leaves this machine."))

    @classmethod
    def from_domain(cls, model: LocalModel, *, is_here: bool) -> Self:
        """Present a model of a server, which is on this machine or not."""
        return cls(
            name=model.name,
            good_for=LocalizedTextSchema.from_domain(describe_fitness(model)),
            parameters=model.parameters,
            context_length=model.context_length,
            has_tools=model.has_tools,
            thinks=model.thinks,
            stays_here=is_here and not model.is_cloud,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectedServerSchema(Schema):
    """A model server that was found. It is not used unless you choose it."""

    provider: str = field(metadata=describe(examples=["ollama"]))
    base_url: str
    models: tuple[DetectedModelSchema, ...]
    suggested: str | None = field(
        metadata=describe("The suggested model for replies; null if it has none.")
    )

    @classmethod
    def from_domain(cls, server: LocalServer) -> Self:
        """Present a server and its models."""
        is_here = is_local_address(server.base_url)
        return cls(
            provider=server.provider,
            base_url=server.base_url,
            models=tuple(
                DetectedModelSchema.from_domain(model, is_here=is_here) for model in server.models
            ),
            suggested=suggest_roles(server).get("main"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelsSchema(Schema):
    """The models in use and those available."""

    main: tuple[str, ...]
    small: tuple[str, ...]
    reflect: tuple[str, ...]
    embedder: str
    transcriber: str | None
    speaker: str | None
    voice: str
    providers: tuple[ProviderSchema, ...]
    found: tuple[DetectedServerSchema, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTestSchema(Schema):
    """The result of testing a model."""

    works: bool
    message: LocalizedTextSchema = field(
        metadata=describe("What the model said, or why it does not work.")
    )
    told: LocalizedTextSchema = field(
        metadata=describe("The former name of `message`.", deprecated=True)
    )
    took_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedModelSchema(Schema):
    """A saved choice of a model."""

    key_in: str | None = field(metadata=describe("Where the key was stored, if there was one."))
    takes_new_start: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedPersonSchema(Schema):
    """A person whose account on a channel is linked."""

    name: str
    addresses: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelCredentialSchema(Schema):
    """A value that opens the bot."""

    name: str
    is_secret: bool = field(metadata=describe("Whether it is hidden while it is typed."))
    default: str | None = field(metadata=describe("What it is if it is not given."))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelSchema(Schema):
    """The state of a channel."""

    is_connected: bool
    is_mine: bool = field(metadata=describe("Whether your account is linked."))
    pairs_by_code: bool = field(
        metadata=describe("Whether somebody new sends a code; if not, allowed addresses only.")
    )
    bot: str | None = field(metadata=describe("The bot's name; null if it is not known."))
    token_in: LocalizedTextSchema | None = field(
        metadata=describe("Where the token is stored; null for everybody but the owner.")
    )
    people: tuple[LinkedPersonSchema, ...] = field(
        metadata=describe("Who is linked there; empty for everybody but the owner.")
    )
    credentials: tuple[ChannelCredentialSchema, ...] = field(
        metadata=describe("What the owner is asked for to connect a bot.")
    )
    needed_setting: str | None = field(
        metadata=describe(
            "The setting without which nobody is answered; null if there is none.",
            examples=["email.authserv_id"],
        )
    )
    listen_port: int | None = field(
        metadata=describe("The port here that the platform calls; null where it does not call.")
    )
    make_link: str | None = field(
        metadata=describe("Where the platform makes the bot by itself; null if it does not.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BotSchema(Schema):
    """A connected bot."""

    name: str
    token_in: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedAccountSchema(Schema):
    """An address by which you are known."""

    channel: str
    address: str
    label: str = field(
        metadata=describe(
            "The address to show; of a chat program's user the name of the program's token, "
            "empty if that is gone."
        )
    )
    linked_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonMergeSchema(Schema):
    """Two memories that became one, which can still be undone."""

    id: str
    name: str = field(metadata=describe("The name of the other one."))
    merged_at: str
    undo_until: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedAccountsSchema(Schema):
    """Where you are known, and what can be undone, the last one first."""

    items: tuple[LinkedAccountSchema, ...]
    merges: tuple[PersonMergeSchema, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountLinkCodeSchema(Schema):
    """A code to send from another app of yours."""

    code: str = field(metadata=describe(examples=["123456"]))
    expires_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContradictionSchema(Schema):
    """Two beliefs of which only the newer one will hold."""

    older: str
    newer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MergePreviewSchema(Schema):
    """What would come together."""

    name: str = field(metadata=describe("Whose name stays."))
    former: str = field(metadata=describe("Whose name goes."))
    counts: Mapping[str, int] = field(
        metadata=describe("How much there is of the other one: messages, beliefs and so on.")
    )
    contradictions: tuple[ContradictionSchema, ...]
    ends_oura: bool = field(metadata=describe("Whether a ring has to be connected again."))


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkCodeSchema(Schema):
    """A code to send to the bot."""

    code: str = field(metadata=describe(examples=["123456"]))
    expires_at: str
    link: str | None = field(
        metadata=describe(
            "A link that opens the bot with the code; null if the bot's name is unknown."
        )
    )
    qr: str | None = field(
        metadata=describe("The SVG path of the link's QR code, `qr_size` units wide.")
    )
    qr_size: int = 0
