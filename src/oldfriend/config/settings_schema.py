"""Settings schema: the sections of ``oldfriend.toml``, their fields, parsers and defaults.

The names of the fields are the keys of the file. Where a value comes from, and which source wins,
is decided in ``settings``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal, get_args

from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.job_types import MAX_LEASE_S
from oldfriend.domain.setting_parsers import (
    Microdollars,
    SettingsSection,
    choice_parser,
    int_parser,
    list_parser,
    number_parser,
    optional_parser,
    parse_bool,
    parse_dollars,
    parse_ip_address,
    parse_network,
    parse_url,
    text_parser,
)
from oldfriend.prompts.token_budget import BUDGETS, Preset

ModelRole = Literal["small", "main", "reflect"]
ProviderKind = Literal["openai", "openai-responses", "anthropic", "ollama"]
ScorerName = Literal["typed_decay", "dual_trace", "act_r"]
SearchProviderName = Literal["none", "searxng", "brave", "tavily"]
SpeechMode = Literal["never", "asked", "always"]

MODEL_ROLES: Final[tuple[ModelRole, ...]] = ("small", "main", "reflect")
PROVIDER_KINDS: Final[tuple[ProviderKind, ...]] = get_args(ProviderKind)
SCORER_NAMES: Final[tuple[ScorerName, ...]] = ("typed_decay", "dual_trace", "act_r")
SEARCH_PROVIDER_NAMES: Final[tuple[SearchProviderName, ...]] = get_args(SearchProviderName)
SPEECH_MODES: Final[tuple[SpeechMode, ...]] = ("never", "asked", "always")
ONE_DOLLAR: Final = Microdollars(1_000_000)
LOCAL: Final = "local"
PROVIDER_NAME_PATTERN: Final = "[a-z0-9][a-z0-9-]*"
MODEL_NAME_PATTERN: Final = rf"{PROVIDER_NAME_PATTERN}:\S+"

PARSE_MODELS = list_parser(
    text_parser(
        localizable("expected_model", '"provider:name", such as "anthropic:claude-sonnet-5"'),
        MODEL_NAME_PATTERN,
    )
)
PARSE_VARIABLE = text_parser(
    localizable("expected_variable", "the name of a variable in capitals, such as MY_KEY"),
    r"[A-Z_][A-Z0-9_]*",
)
PARSE_EMBEDDER = text_parser(
    localizable("expected_embedder", f'"{LOCAL}" or "provider:name"', local=LOCAL),
    rf"{LOCAL}|{MODEL_NAME_PATTERN}",
)
PARSE_TRANSCRIBER = text_parser(
    localizable("expected_transcriber", f'"provider:name" or "{LOCAL}:FOLDER"', local=LOCAL),
    rf"{LOCAL}:\S.*|{MODEL_NAME_PATTERN}",
)
PARSE_SPEAKER = text_parser(localizable("expected_speaker", '"provider:name"'), MODEL_NAME_PATTERN)
PARSE_VOICE = text_parser(localizable("expected_voice", "the name of a voice"), r"\S(.*\S)?")
PARSE_LOOPBACK = text_parser(
    localizable("expected_loopback", "an address of this machine only, such as 127.0.0.1"),
    r"localhost|::1|127(\.\d{1,3}){3}",
)
PRIVATE_NETWORKS: Final = (
    "127.0.0.0/8",
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "::1/128",
    "fc00::/7",
    "fe80::/10",
)
"""Where only those are who are let into a house: this machine and its own network."""
PARSE_PERSON = text_parser("the name of a person", r"\S(.*\S)?")
PARSE_PUBLIC_URL = text_parser(
    "an https address without a path, such as https://friend.example.org",
    r"https://[a-z0-9][a-z0-9.-]{0,251}[a-z0-9](:\d{1,5})?",
)
PARSE_COMMAND = text_parser("a program, such as npx or /usr/bin/my-server", r"\S.*")
PARSE_ARGUMENTS = list_parser(text_parser("an argument of the program", r"[^\0]*"))
PARSE_VARIABLES = list_parser(text_parser('"NAME=value"', r"[A-Za-z_][A-Za-z0-9_]*=[^\0]*"))
PARSE_TOOL_NAMES = list_parser(
    text_parser("the name of a tool, as the server has it", r"[A-Za-z0-9_.-]{1,64}")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings(SettingsSection):
    """The language models of each role: "provider:name", tried in this order.

    A role without models uses those of *main*; without any, the companion is offline.
    """

    small: Annotated[tuple[str, ...], PARSE_MODELS] = ()  # classify, extract
    main: Annotated[tuple[str, ...], PARSE_MODELS] = ()  # reply
    reflect: Annotated[tuple[str, ...], PARSE_MODELS] = ()

    def for_role(self, model_role: ModelRole) -> tuple[str, ...]:
        """Return the models of a role, first choice first."""
        own: Mapping[ModelRole, tuple[str, ...]] = {
            "small": self.small,
            "main": self.main,
            "reflect": self.reflect,
        }
        return own[model_role] or self.main


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSettings(SettingsSection):
    """How to reach a provider; what is unset has the usual value for its name."""

    kind: Annotated[ProviderKind | None, optional_parser(choice_parser(PROVIDER_KINDS))] = (
        None  # which API it has
    )
    base_url: Annotated[str | None, optional_parser(parse_url)] = None
    key_from_env: Annotated[str | None, optional_parser(PARSE_VARIABLE)] = (
        None  # if its key is in an unusual variable
    )
    connect_s: Annotated[float, number_parser(ge=0.1)] = 10.0
    silence_s: Annotated[float, number_parser(ge=0.1)] = 60.0  # the longest wait for the next chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolServerSettings(SettingsSection):
    """An MCP server whose tools the companion may use: a program on this machine, or an address.

    Only the tools that are named are used. Those not named as ``reading`` need the person's yes
    each time.
    """

    command: Annotated[str | None, optional_parser(PARSE_COMMAND)] = None
    args: Annotated[tuple[str, ...], PARSE_ARGUMENTS] = ()
    env: Annotated[tuple[str, ...], PARSE_VARIABLES] = ()  # besides a few such as PATH and HOME
    url: Annotated[str | None, optional_parser(parse_url)] = None
    tools: Annotated[tuple[str, ...], PARSE_TOOL_NAMES] = ()
    reading: Annotated[tuple[str, ...], PARSE_TOOL_NAMES] = ()  # used without asking
    key_from_env: Annotated[str | None, optional_parser(PARSE_VARIABLE)] = (
        None  # the variable that holds its key; a program gets it under the same name
    )
    call_timeout_s: Annotated[float, number_parser(ge=0.1, le=60)] = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderSettings(SettingsSection):
    """The model that embeds texts."""

    model: Annotated[str, PARSE_EMBEDDER] = LOCAL
    dimension: Annotated[int | None, optional_parser(int_parser(ge=4, le=16_384))] = (
        None  # of a provider's model
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechSettings(SettingsSection):
    """The models for transcription and speech, and when to speak; None means neither."""

    transcriber: Annotated[str | None, optional_parser(PARSE_TRANSCRIBER)] = None
    speaker: Annotated[str | None, optional_parser(PARSE_SPEAKER)] = None
    voice: Annotated[str, PARSE_VOICE] = "alloy"  # one that the speaker offers
    speaks: Annotated[SpeechMode, choice_parser(SPEECH_MODES)] = (
        "asked"  # when replies are spoken, if there is a speaker
    )
    keep_audio: Annotated[bool, parse_bool] = False  # keep recordings, not only their transcripts
    overhears: Annotated[bool, parse_bool] = False  # in groups, also what is not addressed to it


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSettings(SettingsSection):
    """What may be looked up outside; each switch tells somebody else what is looked up."""

    pages: Annotated[bool, parse_bool] = False  # read pages that the person names; asks their site
    search: Annotated[SearchProviderName, choice_parser(SEARCH_PROVIDER_NAMES)] = "none"
    search_url: Annotated[str | None, optional_parser(parse_url)] = None  # of a SearXNG
    weather: Annotated[bool, parse_bool] = False  # sends the place to Open-Meteo
    currency: Annotated[bool, parse_bool] = False  # sends the currencies to Frankfurter
    places: Annotated[bool, parse_bool] = False  # sends what is looked for to Nominatim
    asks_before_paid: Annotated[bool, parse_bool] = True  # each time that a search may cost


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSettings(SettingsSection):
    """The limits per person, per turn and per worker."""

    messages_per_minute: Annotated[int, int_parser(ge=0)] = 15  # of one person; 0: unlimited
    turn_timeout_s: Annotated[float, number_parser(ge=1)] = 120.0
    most_tool_calls: Annotated[int, int_parser(ge=0)] = 15
    lease_s: Annotated[float, number_parser(ge=0.1, le=MAX_LEASE_S)] = 30.0
    heartbeat_s: Annotated[float, number_parser(ge=0.05)] = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetSettings(SettingsSection):
    """What may be spent in a day, in money and in tokens; None means no limit.

    Tokens of models without a known price cannot count against a limit in money. If there is such a
    limit, they count against the limit of unpriced tokens beside it.
    """

    background_per_day: Annotated[Microdollars | None, optional_parser(parse_dollars)] = ONE_DOLLAR
    background_tokens_per_day: Annotated[int | None, optional_parser(int_parser(ge=0))] = None
    background_unpriced_tokens_per_day: Annotated[int | None, optional_parser(int_parser(ge=0))] = (
        500_000
    )
    all_per_day: Annotated[Microdollars | None, optional_parser(parse_dollars)] = None
    all_tokens_per_day: Annotated[int | None, optional_parser(int_parser(ge=0))] = None
    all_unpriced_tokens_per_day: Annotated[int | None, optional_parser(int_parser(ge=0))] = (
        2_000_000
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSettings(SettingsSection):
    """How much goes into a model's prompt."""

    preset: Annotated[Preset, choice_parser(tuple(BUDGETS))] = "normal"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings(SettingsSection):
    """The memory for search indexes, and the scorer that ranks beliefs.

    Somebody whose index alone would exceed it is searched with fewer bytes, in more time.
    """

    memory_mb: Annotated[int, int_parser(ge=1)] = 512  # 300,000 messages; a million in fewer bytes
    scorer: Annotated[ScorerName, choice_parser(SCORER_NAMES)] = "typed_decay"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySettings(SettingsSection):
    """Whether and how beliefs are learned from messages."""

    forms: Annotated[bool, parse_bool] = True
    read_every_turns: Annotated[int, int_parser(ge=1, le=500)] = 10  # of one conversation
    read_within_days: Annotated[int, int_parser(ge=0, le=30)] = 7  # short ones, by a model
    passes: Annotated[int, int_parser(ge=1, le=2)] = 1  # 2: for models that miss too much
    imports_by_model: Annotated[bool, parse_bool] = False  # else by rules, until asked for
    thinks: Annotated[bool, parse_bool] = True  # between conversations, if there is a model


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionSettings(SettingsSection):
    """How long messages are kept; None means forever. What was learned from them stays."""

    messages_days: Annotated[int | None, optional_parser(int_parser(ge=1, le=36_500))] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeSettings(SettingsSection):
    """The server process: the address of its health checks, and its concurrency."""

    host: Annotated[str, PARSE_LOOPBACK] = "127.0.0.1"
    port: Annotated[int, int_parser(ge=0, le=65_535)] = 8344  # 0: any free port
    public_url: Annotated[str | None, PARSE_PUBLIC_URL] = None  # of a proxy in front of it
    turns_at_once: Annotated[int, int_parser(ge=1)] = 200
    wyoming_port: Annotated[int | None, optional_parser(int_parser(ge=0, le=65_535))] = None  # off
    wyoming_host: Annotated[str, parse_ip_address] = "127.0.0.1"
    wyoming_person: Annotated[str | None, PARSE_PERSON] = None  # who speaks there; None: the owner
    wyoming_clients: Annotated[tuple[str, ...], list_parser(parse_network)] = PRIVATE_NETWORKS
