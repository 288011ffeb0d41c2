"""What can be chosen, in which section of ``oldfriend.toml``, and what holds without a choice?

Values only. The names of the fields are the keys; where a choice comes from, and which wins,
is the business of ``settings``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal

from oldfriend.app.choices.choosing import (
    Microdollars,
    dollars,
    number,
    one_of,
    or_none,
    several,
    text,
    whole,
    yes_or_no,
)
from oldfriend.domain.sayings import saying
from oldfriend.turn.budget import BUDGETS, Preset

Role = Literal["small", "main", "reflect"]
Kind = Literal["openai", "openai-responses", "anthropic"]
ScorerName = Literal["typed_decay", "dual_trace", "act_r"]
Speaks = Literal["never", "asked", "always"]

ROLES: Final[tuple[Role, ...]] = ("small", "main", "reflect")
KINDS: Final[tuple[Kind, ...]] = ("openai", "openai-responses", "anthropic")
SCORERS: Final[tuple[ScorerName, ...]] = ("typed_decay", "dual_trace", "act_r")
SPEAKS: Final[tuple[Speaks, ...]] = ("never", "asked", "always")
A_DOLLAR: Final = Microdollars(1_000_000)
LOCAL: Final = "local"
PROVIDER_NAME: Final = "[a-z0-9][a-z0-9-]*"
MODEL_NAME: Final = rf"{PROVIDER_NAME}:\S+"

MODELS = several(
    text(
        saying("expected_model", '"provider:name", such as "anthropic:claude-sonnet-5"'), MODEL_NAME
    )
)
LIKE_OLLAMA = "an address such as http://localhost:11434/v1"
ADDRESS = text(saying("expected_address", LIKE_OLLAMA), r"https?://[^\s@]+")
PUBLIC = text(
    saying(
        "expected_proxy",
        "the address of a proxy that Telegram can reach, such as https://me.example/api/telegram",
    ),
    r"https?://[^\s@]+/api/telegram",
)
HOST = text(
    saying("expected_host", "an address of this machine, such as 127.0.0.1"), r"[A-Za-z0-9.:-]+"
)
VARIABLE = text(
    saying("expected_variable", "the name of a variable in capitals, such as MY_KEY"),
    r"[A-Z_][A-Z0-9_]*",
)
EMBEDDER = text(
    saying("expected_embedder", f'"{LOCAL}" or "provider:name"', local=LOCAL),
    rf"{LOCAL}|{MODEL_NAME}",
)
USER = text(
    saying("expected_user", "the number of a Telegram user or group, such as 123456789"),
    r"-?[1-9]\d{0,18}",
)
USERS = several(lambda given: USER(replace(given, value=str(given.value))))
TRANSCRIBER = text(
    saying("expected_transcriber", f'"provider:name" or "{LOCAL}:FOLDER"', local=LOCAL),
    rf"{LOCAL}:\S.*|{MODEL_NAME}",
)
SPEAKER = text(saying("expected_speaker", '"provider:name"'), MODEL_NAME)
VOICE = text(saying("expected_voice", "the name of a voice"), r"\S(.*\S)?")
LOOPBACK = text(
    saying("expected_loopback", "an address of this machine alone, such as 127.0.0.1"),
    r"localhost|::1|127(\.\d{1,3}){3}",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of the settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Models(Section):
    """Which language models do what: each "provider:name", tried in this order.

    A role that has none takes those of *main*; without any, the companion is offline.
    """

    small: Annotated[tuple[str, ...], MODELS] = ()  # classify, extract
    main: Annotated[tuple[str, ...], MODELS] = ()  # reply
    reflect: Annotated[tuple[str, ...], MODELS] = ()

    def for_role(self, role: Role) -> tuple[str, ...]:
        """The models of a role, first choice first."""
        own: Mapping[Role, tuple[str, ...]] = {
            "small": self.small, "main": self.main, "reflect": self.reflect,
        }  # fmt: skip
        return own[role] or self.main


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider(Section):
    """How to reach a provider; what is not said is as usual for one of its name."""

    kind: Annotated[Kind | None, or_none(one_of(KINDS))] = None  # which interface it speaks
    base_url: Annotated[str | None, or_none(ADDRESS)] = None
    key_from_env: Annotated[str | None, or_none(VARIABLE)] = None  # where its key is in another one
    connect_s: Annotated[float, number(least=0.1)] = 10.0
    silence_s: Annotated[float, number(least=0.1)] = 60.0  # the longest wait for the next piece


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderChoice(Section):
    """Which model turns texts into vectors."""

    model: Annotated[str, EMBEDDER] = LOCAL
    dimension: Annotated[int | None, or_none(whole(least=4, most=16_384))] = None  # of a provider's


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechChoice(Section):
    """Who writes down what is said aloud, who speaks, and when; None: nobody."""

    transcriber: Annotated[str | None, or_none(TRANSCRIBER)] = None
    speaker: Annotated[str | None, or_none(SPEAKER)] = None
    voice: Annotated[str, VOICE] = "alloy"  # one that the speaker has
    speaks: Annotated[Speaks, one_of(SPEAKS)] = "asked"  # replies, where there is a speaker
    keep_audio: Annotated[bool, yes_or_no] = False  # what people have said, not only its words
    overhears: Annotated[bool, yes_or_no] = False  # in groups, also what is not said to it


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits(Section):
    """How much one person, one turn and one worker may take."""

    messages_per_minute: Annotated[int, whole(least=0)] = 15  # of one person; 0: any number
    turn_timeout_s: Annotated[float, number(least=1)] = 120.0
    most_tool_calls: Annotated[int, whole(least=0)] = 15
    lease_s: Annotated[float, number(least=0.1)] = 30.0
    heartbeat_s: Annotated[float, number(least=0.05)] = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget(Section):
    """What may be spent in a day, in money and in tokens; None: no end to it."""

    background_per_day: Annotated[Microdollars | None, or_none(dollars)] = A_DOLLAR
    background_tokens_per_day: Annotated[int | None, or_none(whole(least=0))] = None
    all_per_day: Annotated[Microdollars | None, or_none(dollars)] = None
    all_tokens_per_day: Annotated[int | None, or_none(whole(least=0))] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextChoice(Section):
    """How much goes into a model's prompt."""

    preset: Annotated[Preset, one_of(tuple(BUDGETS))] = "normal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Search(Section):
    """How much memory people's histories may take, and by what beliefs that answer are weighed.

    Somebody who alone would take more is searched in fewer bytes, in more time.
    """

    memory_mb: Annotated[int, whole(least=1)] = 512  # 300,000 messages, or a million in few bytes
    scorer: Annotated[ScorerName, one_of(SCORERS)] = "typed_decay"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryChoice(Section):
    """Whether and how beliefs form from what was said."""

    forms: Annotated[bool, yes_or_no] = True
    read_every_turns: Annotated[int, whole(least=1, most=500)] = 10  # at the latest
    passes: Annotated[int, whole(least=1, most=2)] = 1  # 2: for models that lose the thread
    imports_by_model: Annotated[bool, yes_or_no] = False  # else by rules, until you ask for it
    thinks: Annotated[bool, yes_or_no] = True  # between conversations, where there is a model


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention(Section):
    """How long words are kept; None: for good. What was learned from them stays."""

    messages_days: Annotated[int | None, or_none(whole(least=1, most=36_500))] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Serve(Section):
    """The process that runs: where it is asked how it does, and how much it does at once."""

    host: Annotated[str, LOOPBACK] = "127.0.0.1"
    port: Annotated[int, whole(least=0, most=65_535)] = 8344  # 0: any that is free
    turns_at_once: Annotated[int, whole(least=1)] = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class TelegramChoice(Section):
    """Who may talk on Telegram beside those who have shown a code, and how it is reached.

    The token is no setting: `oldfriend connect telegram` keeps it.
    """

    enabled: Annotated[bool, yes_or_no] = True  # where there is a token
    allowed: Annotated[tuple[str, ...], USERS] = ()  # numbers of users and groups; none: nobody
    base_url: Annotated[str, ADDRESS] = "https://api.telegram.org"
    quiet_s: Annotated[float, number(least=0, most=60)] = 2.0  # then what was said is answered
    webhook: Annotated[str | None, or_none(PUBLIC)] = (
        None  # where Telegram is to call; none: it is asked
    )
    webhook_host: Annotated[str, HOST] = "127.0.0.1"  # where these calls arrive on this machine
    webhook_port: Annotated[int, whole(least=1, most=65_535)] = 8345
