"""What has the person chosen? Read once, here.

The command line wins over the environment, that over ``oldfriend.toml`` in the data folder, that
over the defaults. Nothing secret is kept.
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

from oldfriend.app.choices.choosing import Given, Reader, text
from oldfriend.app.choices.database_url import is_same_database, shown_url
from oldfriend.app.choices.sections import (
    PROVIDER_NAME,
    Budget,
    ContextChoice,
    EmbedderChoice,
    Limits,
    MemoryChoice,
    Models,
    Provider,
    Retention,
    Search,
    Section,
    Serve,
    SpeechChoice,
    TelegramChoice,
)
from oldfriend.app.choices.settings_file import FILE_NAME, read_file
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.sayings import saying

S = TypeVar("S", bound=Section)

DATABASE_FILE = "oldfriend.db"
VARIABLE: Final = "OLDFRIEND_"
SECTIONS: Final[Mapping[str, type[Section]]] = {
    "models": Models, "embedder": EmbedderChoice, "speech": SpeechChoice, "limits": Limits,
    "budget": Budget,
    "context": ContextChoice, "search": Search, "memory": MemoryChoice,
    "retention": Retention, "serve": Serve,
    "telegram": TelegramChoice,
}  # fmt: skip
PROVIDERS: Final = "providers"
KEYS: Final = frozenset({"OLDFRIEND_TELEGRAM_TOKEN"})
"""Variables that hold what is secret, and is no setting; ``keys`` looks for it."""
RELOADABLE: Final = (
    "models", "providers", "speech", "limits.messages_per_minute", "limits.turn_timeout_s",
    "limits.most_tool_calls", "budget", "context", "search.scorer", "memory",
    "retention", "telegram.enabled", "telegram.allowed",
)  # fmt: skip
"""What `oldfriend reload` changes in a process that runs; all else takes a new start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Where things are, what may be assumed of the person, and what they chose."""

    data: Path  # the folder for everything Oldfriend keeps
    database: str  # where the memory is: sqlite:///PATH or postgresql://…
    zone: str  # IANA name of the machine's time zone
    language: str | None  # of the machine's locale
    models: Models = field(default_factory=Models)
    providers: Mapping[str, Provider] = field(default_factory=dict)
    embedder: EmbedderChoice = field(default_factory=EmbedderChoice)
    speech: SpeechChoice = field(default_factory=SpeechChoice)
    limits: Limits = field(default_factory=Limits)
    budget: Budget = field(default_factory=Budget)
    context: ContextChoice = field(default_factory=ContextChoice)
    search: Search = field(default_factory=Search)
    memory: MemoryChoice = field(default_factory=MemoryChoice)
    retention: Retention = field(default_factory=Retention)
    serve: Serve = field(default_factory=Serve)
    telegram: TelegramChoice = field(default_factory=TelegramChoice)
    bench_data: Path | None = None  # conversations for the benchmark that may not be shipped
    bench_float_model: Path | None = None  # the float graph to compare the embedder with
    bench_postgres: str | None = None  # a database in which the benchmark may make tables
    # Where keys are looked up, and only there is one taken from it.
    environment: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    @property
    def file(self) -> Path:
        """Where what is chosen for longer stands."""
        return self.data / FILE_NAME

    def allowed_on(self, channel: str) -> tuple[str, ...]:
        """The addresses on a channel that may talk without having shown a code."""
        return {"telegram": self.telegram.allowed}.get(channel, ())


def read_settings(
    environment: Mapping[str, str] = os.environ,
    *,
    data: str | None = None,
    database: str | None = None,
    typed: Sequence[str] = (),
    has_file: bool = True,
) -> Settings:
    """What was given on the command line, else OLDFRIEND_… variables, else the file, else defaults.

    ``typed`` are settings as they are typed: "limits.lease_s=5". An empty variable is none; an
    empty word that was typed is a slip, perhaps in a script whose own variable was empty. Without
    a file (``has_file``) what the owner of the data folder chose is left alone. Raises
    InvalidInput.
    """
    path = data_folder(environment, data=data)
    if database == "":
        raise InvalidInput("--database is empty. Give it sqlite:///PATH, or leave it out.")
    given = read_file(path / FILE_NAME) if has_file else {}
    given |= dict(from_environment(environment))
    given |= dict(from_command_line(typed))
    refuse_unknown(given)
    settings = Settings(
        data=path,
        database=database or database_from(given) or f"sqlite:///{path / DATABASE_FILE}",
        zone=get_localzone_name() or "UTC",
        language=locale_language(environment),
        models=section(Models(), "models", given),
        providers=providers_from(given),
        embedder=section(EmbedderChoice(), "embedder", given),
        speech=section(SpeechChoice(), "speech", given),
        limits=section(Limits(), "limits", given),
        budget=section(Budget(), "budget", given),
        context=section(ContextChoice(), "context", given),
        search=section(Search(), "search", given),
        memory=section(MemoryChoice(), "memory", given),
        retention=section(Retention(), "retention", given),
        serve=section(Serve(), "serve", given),
        telegram=section(TelegramChoice(), "telegram", given),
        bench_data=path_or_none(environment.get("OLDFRIEND_BENCH_DATA")),
        bench_float_model=path_or_none(environment.get("OLDFRIEND_BENCH_FLOAT_MODEL")),
        bench_postgres=environment.get("OLDFRIEND_BENCH_POSTGRES") or None,
        environment=environment,
    )
    refuse_what_does_not_fit(settings)
    return settings


def settings_for(url: str | None, environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings for a program that opens a database; None: the companion's own.

    The companion's own, also where its url is given, follows the file of its owner; any other
    does not. Raises InvalidInput.
    """
    if url is None:
        return read_settings(environment)
    alone = read_settings(environment, database=url, has_file=False)
    try:
        own = read_settings(environment)
    except InvalidInput:  # a file that is broken can only have left the database as it was
        own = read_settings(environment, has_file=False)
        if is_same_database(own.database, url):
            raise
        return alone
    return replace(own, database=url) if is_same_database(own.database, url) else alone


def data_folder(environment: Mapping[str, str] = os.environ, *, data: str | None = None) -> Path:
    """The folder for everything Oldfriend keeps, with the file of settings. Raises InvalidInput."""
    if data == "":
        raise InvalidInput("--data is empty. Give it a folder, or leave it out.")
    folder = data or environment.get("OLDFRIEND_DATA") or str(user_data_path("oldfriend"))
    return Path(folder).expanduser().absolute()


def reloaded(running: Settings, now: Settings) -> tuple[Settings, tuple[str, ...]]:
    """The settings of a process after a reload, and what has changed that takes a new start."""
    taken = replace(
        running,
        models=now.models,
        providers=now.providers,
        speech=now.speech,
        budget=now.budget,
        context=now.context,
        search=replace(running.search, scorer=now.search.scorer),
        memory=now.memory,
        retention=now.retention,
        telegram=replace(
            running.telegram, enabled=now.telegram.enabled, allowed=now.telegram.allowed
        ),
        limits=replace(
            running.limits,
            messages_per_minute=now.limits.messages_per_minute,
            turn_timeout_s=now.limits.turn_timeout_s,
            most_tool_calls=now.limits.most_tool_calls,
        ),
    )
    before, after = dict(named_values(taken)), dict(named_values(now))
    return taken, tuple(name for name in after if before.get(name) != after[name])


def named_values(settings: Settings) -> Iterator[tuple[str, object]]:
    """Every value that can be chosen, under its name."""
    yield "database", settings.database
    yield PROVIDERS, settings.providers
    for name in SECTIONS:
        chosen = getattr(settings, name)
        for part in fields(chosen):
            yield f"{name}.{part.name}", getattr(chosen, part.name)


def from_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, Given]]:
    """What variables choose; those of other purposes are left alone."""
    for variable, value in environment.items():
        place, _, rest = variable.removeprefix(VARIABLE).lower().partition("_")
        if not variable.startswith(VARIABLE) or not value or variable in KEYS:
            continue
        given = Given(value=value, where=variable, is_text=True)
        if place in SECTIONS and rest:
            yield f"{place}.{rest}", given
        elif place == PROVIDERS and rest:
            yield provider_key(rest), given
        elif variable == "OLDFRIEND_DATABASE":
            yield "database", given


def provider_key(rest: str) -> str:
    """The name of a provider's setting: "lm_studio_base_url" is "providers.lm-studio.base_url"."""
    for part in fields(Provider):
        if rest.endswith(f"_{part.name}"):
            name = rest.removesuffix(f"_{part.name}").replace("_", "-")
            return f"{PROVIDERS}.{name}.{part.name}"
    return f"{PROVIDERS}.{rest}"


def from_command_line(typed: Sequence[str]) -> Iterator[tuple[str, Given]]:
    """What was typed as "NAME=VALUE". Raises InvalidInput."""
    for words in typed:
        name, sign, value = words.partition("=")
        if not sign or not name or not value:
            raise InvalidInput("--set takes NAME=VALUE, such as limits.lease_s=5.")
        yield name, Given(value=value, where=f"--set {shown_url(name)}", is_text=True)


def refuse_unknown(given: Mapping[str, Given]) -> None:
    """Raise InvalidInput for a key that there is not, with the nearest one that there is."""
    known = [f"{name}.{part.name}" for name, kind in SECTIONS.items() for part in fields(kind)]
    known.append("database")
    for name, value in given.items():
        own = list(known)
        start = name.rpartition(".")[0]
        if re.fullmatch(rf"{PROVIDERS}\.{PROVIDER_NAME}", start):
            own = [f"{start}.{part.name}" for part in fields(Provider)]
        if name not in own:
            near = get_close_matches(name, own, n=1, cutoff=0.5)
            meant = f" Did you mean {near[0]}?" if near else f" There are: {', '.join(own)}."
            raise InvalidInput(saying(
                "setting_not_known", f"{value.where} is not a setting.{meant}", where=value.where,
            ))  # fmt: skip


def section(default: S, name: str, given: Mapping[str, Given]) -> S:
    """A section with what was given for it. Raises InvalidInput."""
    values: dict[str, object] = {}
    for part, hint in get_type_hints(type(default), include_extras=True).items():
        if value := given.get(f"{name}.{part}"):
            read: Reader[object] = hint.__metadata__[0]
            values[part] = read(value)
    return replace(default, **values)


def providers_from(given: Mapping[str, Given]) -> dict[str, Provider]:
    """The providers of which something was said. Raises InvalidInput."""
    names = {name.split(".")[1]: None for name in given if name.startswith(f"{PROVIDERS}.")}
    return {name: section(Provider(), f"{PROVIDERS}.{name}", given) for name in names}


def database_from(given: Mapping[str, Given]) -> str | None:
    """The database that was chosen outside the command line's own option."""
    if "database" not in given:
        return None
    return text("the address of a database, such as sqlite:///PATH", r"\S.*")(given["database"])


def refuse_what_does_not_fit(settings: Settings) -> None:
    """Raise InvalidInput where two choices contradict each other."""
    limits, embedder = settings.limits, settings.embedder
    if limits.heartbeat_s * 2 > limits.lease_s:
        raise InvalidInput(
            f"limits.heartbeat_s is {limits.heartbeat_s:g} and limits.lease_s {limits.lease_s:g}: "
            "a lease must outlive two heartbeats, or each late one loses it."
        )
    if ":" in embedder.model and embedder.dimension is None:
        raise InvalidInput(
            f"embedder.model is {embedder.model!r}, but embedder.dimension is not said. "
            "`oldfriend connect embedder` finds it out."
        )


def path_or_none(text: str | None) -> Path | None:
    """The path that a variable names, where it is set and not empty."""
    return Path(text).expanduser().absolute() if text else None


def limit_to_one_thread() -> None:
    """Let arithmetic in this process and its children use one processor.

    Libraries look at this once, when they are imported.
    """
    for library in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM"):
        os.environ[f"{library}_NUM_THREADS"] = "1"


def locale_language(environment: Mapping[str, str]) -> str | None:
    """The language of the locale, such as "es" for es_ES.UTF-8."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        value = environment.get(name, "")
        if value and value not in {"C", "POSIX"} and not value.startswith("C."):
            return value[:2].lower()
    return None
