"""Settings: read once from command line, environment, settings file and defaults.

The command line overrides the environment, which overrides ``oldfriend.toml`` in the data folder,
which overrides the defaults. Secrets are not part of the settings.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Final, TypeVar, get_type_hints

from platformdirs import user_data_path
from tzlocal import get_localzone_name

from oldfriend.channels.channel import ChannelSettings
from oldfriend.channels.channel_registry import CHANNELS
from oldfriend.config.settings_file import SETTINGS_FILE_NAME, read_settings_file
from oldfriend.config.settings_schema import (
    PROVIDER_NAME_PATTERN,
    BudgetSettings,
    ContextSettings,
    EmbedderSettings,
    LimitSettings,
    MemorySettings,
    ModelSettings,
    ProviderSettings,
    RetentionSettings,
    SearchSettings,
    ServeSettings,
    SpeechSettings,
    ToolServerSettings,
    WebSettings,
)
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.setting_parsers import (
    RawSetting,
    SettingParser,
    SettingsSection,
    redact_url,
    text_parser,
)

JSON_PREFIX: Final = "json:///"
POSTGRES_PREFIXES: Final = ("postgresql://", "postgres://")


def is_postgres_url(url: str) -> bool:
    """Return whether a URL names a PostgreSQL server; its details are checked by the driver."""
    return url.startswith(POSTGRES_PREFIXES)


def is_json_url(url: str) -> bool:
    """Return whether a URL names a readable JSON file."""
    return url.startswith(JSON_PREFIX)


def parse_database_path(url: str) -> Path:
    """Return the absolute path of the file that a URL names. Raises InvalidInput."""
    scheme, separator, rest = url.partition(":///")
    if scheme not in {"sqlite", "json"} or not separator or not rest:
        raise InvalidInput(
            f"{redact_url(url)!r} does not name a database. Use sqlite:///PATH, such as "
            "sqlite:////home/me/oldfriend.db, json:///PATH for a file that you can read, or "
            "postgresql://NAME@HOST/DATABASE"
        )
    return Path(rest).expanduser().absolute()


def to_database_url(text: str) -> str:
    """Return a database URL for a URL or the path of a file."""
    return text if "://" in text else f"sqlite:///{text}"


def is_same_database(one: str, other: str) -> bool:
    """Return whether two URLs name the same database, as far as is known without opening it."""
    if is_postgres_url(one) or is_postgres_url(other):
        return one == other
    return parse_database_path(one).resolve() == parse_database_path(other).resolve()


SectionT = TypeVar("SectionT", bound=SettingsSection)

DATABASE_FILE = "oldfriend.db"
ENV_PREFIX: Final = "OLDFRIEND_"
SECTIONS: Final[Mapping[str, SettingsSection]] = {
    "models": ModelSettings(),
    "embedder": EmbedderSettings(),
    "speech": SpeechSettings(),
    "web": WebSettings(),
    "limits": LimitSettings(),
    "budget": BudgetSettings(),
    "context": ContextSettings(),
    "search": SearchSettings(),
    "memory": MemorySettings(),
    "retention": RetentionSettings(),
    "serve": ServeSettings(),
}
PROVIDERS_SECTION: Final = "providers"
SECRET_ENDINGS: Final = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD")
TOOL_SERVERS_SECTION: Final = "mcp"
NAMED_SECTIONS: Final[Mapping[str, SettingsSection]] = {
    PROVIDERS_SECTION: ProviderSettings(),
    TOOL_SERVERS_SECTION: ToolServerSettings(),
}
"""Sections with a subsection for each provider or server, under its name."""
RELOADABLE_SETTINGS: Final = (
    "models",
    "providers",
    "speech",
    "web",
    "limits.messages_per_minute",
    "limits.turn_timeout_s",
    "limits.most_tool_calls",
    "budget",
    "context",
    "search.scorer",
    "memory",
    "retention",
)
"""Settings that `oldfriend reload` applies to a running process; others need a restart."""


def build_default_channels() -> Mapping[str, ChannelSettings]:
    """Return the default settings of every channel, by its name."""
    return {name: spec.default_settings for name, spec in CHANNELS.items()}


def list_sections() -> Mapping[str, SettingsSection]:
    """Return every section with its defaults, by its name; that of a channel is its name."""
    return {**SECTIONS, **build_default_channels()}


def get_credential_variable(channel: str, credential: str) -> str:
    """Return the variable that may hold a credential of a channel, such as its token.

    It is a secret and no setting.
    """
    return f"{ENV_PREFIX}{channel}_{credential}".upper()


def list_reloadable_settings() -> tuple[str, ...]:
    """Return the sections and settings that a reload applies."""
    return RELOADABLE_SETTINGS + tuple(
        f"{channel}.{name}"
        for channel, section in build_default_channels().items()
        for name in section.reloadable
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Paths, defaults from the machine's environment, and all settings."""

    data: Path  # the folder for everything Oldfriend stores
    database: str  # where the memory is: sqlite:///PATH or postgresql://…
    zone: str  # IANA name of the machine's time zone
    language: str | None  # of the machine's locale
    models: ModelSettings = field(default_factory=ModelSettings)
    providers: Mapping[str, ProviderSettings] = field(default_factory=dict)
    mcp: Mapping[str, ToolServerSettings] = field(default_factory=dict)  # tools of other programs
    embedder: EmbedderSettings = field(default_factory=EmbedderSettings)
    speech: SpeechSettings = field(default_factory=SpeechSettings)
    web: WebSettings = field(default_factory=WebSettings)
    limits: LimitSettings = field(default_factory=LimitSettings)
    budget: BudgetSettings = field(default_factory=BudgetSettings)
    context: ContextSettings = field(default_factory=ContextSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    retention: RetentionSettings = field(default_factory=RetentionSettings)
    serve: ServeSettings = field(default_factory=ServeSettings)
    channels: Mapping[str, ChannelSettings] = field(default_factory=build_default_channels)
    bench_data: Path | None = None  # conversations for the benchmark that must not be distributed
    bench_float_model: Path | None = None  # the float graph to compare the embedder with
    bench_postgres: str | None = None  # a database in which the benchmark may create tables
    # The environment, from which only keys are read later.
    environment: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    @property
    def file(self) -> Path:
        """The path of the settings file."""
        return self.data / SETTINGS_FILE_NAME

    def get_allowed_addresses(self, channel: str) -> tuple[str, ...]:
        """Return the addresses on a channel that may write without a pairing code."""
        return self.channels[channel].allowed if channel in self.channels else ()

    def get_section(self, name: str) -> SettingsSection:
        """Return a section by its name in the settings file."""
        section = self.channels[name] if name in self.channels else getattr(self, name)
        assert isinstance(section, SettingsSection)
        return section


def load_settings(
    environment: Mapping[str, str] = os.environ,
    *,
    data: str | None = None,
    database: str | None = None,
    overrides: Sequence[str] = (),
    use_file: bool = True,
) -> Settings:
    """Load settings from the command line, else OLDFRIEND_… variables, else the file, else
    defaults.

    ``overrides`` are settings as they are typed: "limits.lease_s=5". An empty variable counts as
    unset; an empty option is an error, perhaps of a script whose own variable was empty. Without
    ``use_file``, the settings file in the data folder is ignored. Raises InvalidInput.
    """
    path = resolve_data_folder(environment, data=data)
    if database == "":
        raise InvalidInput("--database is empty. Give it sqlite:///PATH, or leave it out.")
    raw_values = read_settings_file(path / SETTINGS_FILE_NAME) if use_file else {}
    raw_values |= dict(parse_environment(environment))
    raw_values |= dict(parse_overrides(overrides))
    reject_unknown_settings(raw_values)
    settings = Settings(
        data=path,
        database=database or find_database_url(raw_values) or f"sqlite:///{path / DATABASE_FILE}",
        zone=get_localzone_name() or "UTC",
        language=find_locale_language(environment),
        models=build_section(ModelSettings(), "models", raw_values),
        providers=build_named(ProviderSettings(), PROVIDERS_SECTION, raw_values),
        mcp=build_named(ToolServerSettings(), TOOL_SERVERS_SECTION, raw_values),
        embedder=build_section(EmbedderSettings(), "embedder", raw_values),
        speech=build_section(SpeechSettings(), "speech", raw_values),
        web=build_section(WebSettings(), "web", raw_values),
        limits=build_section(LimitSettings(), "limits", raw_values),
        budget=build_section(BudgetSettings(), "budget", raw_values),
        context=build_section(ContextSettings(), "context", raw_values),
        search=build_section(SearchSettings(), "search", raw_values),
        memory=build_section(MemorySettings(), "memory", raw_values),
        retention=build_section(RetentionSettings(), "retention", raw_values),
        serve=build_section(ServeSettings(), "serve", raw_values),
        channels={
            name: build_section(defaults, name, raw_values)
            for name, defaults in build_default_channels().items()
        },
        bench_data=parse_optional_path(environment.get("OLDFRIEND_BENCH_DATA")),
        bench_float_model=parse_optional_path(environment.get("OLDFRIEND_BENCH_FLOAT_MODEL")),
        bench_postgres=environment.get("OLDFRIEND_BENCH_POSTGRES") or None,
        environment=environment,
    )
    validate_settings(settings)
    return settings


def load_settings_for_url(url: str | None, environment: Mapping[str, str] = os.environ) -> Settings:
    """Load settings for a program that opens a database; None means the companion's own.

    The companion's own database, also if its URL is given, follows the settings file in the data
    folder; any other does not. Raises InvalidInput.
    """
    if url is None:
        return load_settings(environment)
    without_file = load_settings(environment, database=url, use_file=False)
    try:
        own = load_settings(environment)
    except InvalidInput:  # a broken file can only have left the database at its default
        own = load_settings(environment, use_file=False)
        if is_same_database(own.database, url):
            raise
        return without_file
    return replace(own, database=url) if is_same_database(own.database, url) else without_file


def resolve_data_folder(
    environment: Mapping[str, str] = os.environ, *, data: str | None = None
) -> Path:
    """Return the folder for everything Oldfriend stores, settings included. Raises InvalidInput."""
    if data == "":
        raise InvalidInput("--data is empty. Give it a folder, or leave it out.")
    folder = data or environment.get("OLDFRIEND_DATA") or str(user_data_path("oldfriend"))
    return Path(folder).expanduser().absolute()


def apply_reload(current: Settings, new: Settings) -> tuple[Settings, tuple[str, ...]]:
    """Return the settings of a process after a reload, and the changes that need a restart."""
    reloaded = replace(
        current,
        models=new.models,
        providers=new.providers,
        speech=new.speech,
        web=new.web,
        budget=new.budget,
        context=new.context,
        search=replace(current.search, scorer=new.search.scorer),
        memory=new.memory,
        retention=new.retention,
        channels={
            name: replace(
                section, **{each: getattr(new.channels[name], each) for each in section.reloadable}
            )
            for name, section in current.channels.items()
        },
        limits=replace(
            current.limits,
            messages_per_minute=new.limits.messages_per_minute,
            turn_timeout_s=new.limits.turn_timeout_s,
            most_tool_calls=new.limits.most_tool_calls,
        ),
    )
    before, after = dict(flatten_settings(reloaded)), dict(flatten_settings(new))
    return reloaded, tuple(name for name in after if before.get(name) != after[name])


def flatten_settings(settings: Settings) -> Iterator[tuple[str, object]]:
    """Yield every setting as its dotted name and value."""
    yield "database", settings.database
    yield PROVIDERS_SECTION, settings.providers
    yield TOOL_SERVERS_SECTION, settings.mcp
    for name in list_sections():
        section = settings.get_section(name)
        for part in fields(section):
            yield f"{name}.{part.name}", getattr(section, part.name)


def parse_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, RawSetting]]:
    """Yield the settings in environment variables; other variables are ignored."""
    sections = list_sections()
    secrets = {
        get_credential_variable(spec.name, each.name)
        for spec in CHANNELS.values()
        for each in spec.credentials
    }
    for variable, value in environment.items():
        section, _, rest = variable.removeprefix(ENV_PREFIX).lower().partition("_")
        if not variable.startswith(ENV_PREFIX) or not value or variable in secrets:
            continue
        raw = RawSetting(value=value, source=variable, is_text=True)
        if section in sections and rest:
            yield f"{section}.{rest}", raw
        elif section == PROVIDERS_SECTION and rest:
            yield parse_provider_setting(rest), raw
        elif variable == "OLDFRIEND_DATABASE":
            yield "database", raw


def parse_provider_setting(suffix: str) -> str:
    """Return a provider setting's name: "lm_studio_base_url" is "providers.lm-studio.base_url"."""
    for part in fields(ProviderSettings):
        if suffix.endswith(f"_{part.name}"):
            name = suffix.removesuffix(f"_{part.name}").replace("_", "-")
            return f"{PROVIDERS_SECTION}.{name}.{part.name}"
    return f"{PROVIDERS_SECTION}.{suffix}"


def parse_overrides(overrides: Sequence[str]) -> Iterator[tuple[str, RawSetting]]:
    """Yield settings typed as "NAME=VALUE". Raises InvalidInput."""
    for override in overrides:
        name, sign, value = override.partition("=")
        if not sign or not name or not value:
            raise InvalidInput("--set takes NAME=VALUE, such as limits.lease_s=5.")
        yield name, RawSetting(value=value, source=f"--set {redact_url(name)}", is_text=True)


def reject_unknown_settings(raw_values: Mapping[str, RawSetting]) -> None:
    """Raise InvalidInput for an unknown setting, with the closest known one."""
    known = [
        f"{name}.{part.name}" for name, kind in list_sections().items() for part in fields(kind)
    ]
    known.append("database")
    for name, value in raw_values.items():
        candidates = list(known)
        prefix = name.rpartition(".")[0]
        section, _, own_name = prefix.partition(".")
        if section in NAMED_SECTIONS and re.fullmatch(PROVIDER_NAME_PATTERN, own_name):
            candidates = [f"{prefix}.{part.name}" for part in fields(NAMED_SECTIONS[section])]
        if name not in candidates:
            near = get_close_matches(name, candidates, n=1, cutoff=0.5)
            hint = f" Did you mean {near[0]}?" if near else f" There are: {', '.join(candidates)}."
            raise InvalidInput(
                localizable(
                    "setting_not_known",
                    f"{value.source} is not a setting.{hint}",
                    where=value.source,
                )
            )


def build_section(default: SectionT, name: str, raw_values: Mapping[str, RawSetting]) -> SectionT:
    """Return a section with the given values parsed. Raises InvalidInput."""
    values: dict[str, object] = {}
    for part, hint in get_type_hints(type(default), include_extras=True).items():
        if value := raw_values.get(f"{name}.{part}"):
            parse: SettingParser[object] = hint.__metadata__[0]
            values[part] = parse(value)
    return replace(default, **values)


def build_named(
    default: SectionT, section: str, raw_values: Mapping[str, RawSetting]
) -> dict[str, SectionT]:
    """Return the subsections that have any settings, by their names. Raises InvalidInput."""
    names = {name.split(".")[1]: None for name in raw_values if name.startswith(f"{section}.")}
    return {name: build_section(default, f"{section}.{name}", raw_values) for name in names}


def find_database_url(raw_values: Mapping[str, RawSetting]) -> str | None:
    """Return the database URL that was set other than by its command-line option."""
    if "database" not in raw_values:
        return None
    return text_parser("the address of a database, such as sqlite:///PATH", r"\S.*")(
        raw_values["database"]
    )


def validate_settings(settings: Settings) -> None:
    """Raise InvalidInput if two settings contradict each other."""
    limits, embedder = settings.limits, settings.embedder
    for name, server in settings.mcp.items():
        validate_tool_server(name, server)
    if limits.heartbeat_s * 2 > limits.lease_s:
        raise InvalidInput(
            f"limits.heartbeat_s is {limits.heartbeat_s:g} and limits.lease_s {limits.lease_s:g}: "
            "a lease must last longer than two heartbeats, or a single late one loses it."
        )
    if ":" in embedder.model and embedder.dimension is None:
        raise InvalidInput(
            f"embedder.model is {embedder.model!r}, but embedder.dimension is not set. `oldfriend "
            "connect embedder` finds it out."
        )


def validate_tool_server(name: str, server: ToolServerSettings) -> None:
    """Raise InvalidInput if it is not clear how a tool server is reached, or what it may do."""
    section = f"[{TOOL_SERVERS_SECTION}.{name}]"
    if (server.command is None) == (server.url is None):
        raise InvalidInput(f"{section} needs either a command or a url, and not both.")
    for each in server.env:
        variable = each.partition("=")[0]
        if variable.upper().endswith(SECRET_ENDINGS):
            raise InvalidInput(
                f"{section} has {variable} in env, which looks like a secret. That file is copied "
                f"and shown. Instead, name it as key_from_env, and store it with `oldfriend "
                f"connect mcp --name {name}`."
            )
    if unknown := [each for each in server.reading if each not in server.tools]:
        raise InvalidInput(
            f"{section} names {', '.join(unknown)} as reading, but not among its tools. Add it "
            "there, or take it out."
        )


def parse_optional_path(text: str | None) -> Path | None:
    """Return the path in a variable; None if it is unset or empty."""
    return Path(text).expanduser().absolute() if text else None


def limit_to_one_thread() -> None:
    """Limit numeric libraries in this process and its children to one thread.

    The libraries read this once, when they are imported.
    """
    for library in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM"):
        os.environ[f"{library}_NUM_THREADS"] = "1"


def find_locale_language(environment: Mapping[str, str]) -> str | None:
    """Return the language of the locale, such as "es" for es_ES.UTF-8."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        value = environment.get(name, "")
        if value and value not in {"C", "POSIX"} and not value.startswith("C."):
            return value[:2].lower()
    return None
