"""What has the person chosen? Read once, here: environment, then defaults.

What a command line says comes on top (see ``cli``). Nothing secret is kept.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_data_path
from tzlocal import get_localzone_name

from oldfriend.domain.errors import InvalidInput

DATABASE_FILE = "oldfriend.db"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Where things are, and what may be assumed of the person."""

    data: Path  # the folder for everything Oldfriend keeps
    database: str  # where the memory is: sqlite:///PATH
    zone: str  # IANA name of the machine's time zone
    language: str | None  # of the machine's locale
    bench_data: Path | None = None  # conversations for the benchmark that may not be shipped
    bench_float_model: Path | None = None  # the float graph to compare the embedder with


def read_settings(
    environment: Mapping[str, str] = os.environ,
    *,
    data: str | None = None,
    database: str | None = None,
) -> Settings:
    """What was given on the command line, else OLDFRIEND_… variables, else defaults.

    An empty variable is none; an empty word that was typed is a slip, perhaps in a script whose
    own variable was empty. Raises InvalidInput.
    """
    if data == "" or database == "":
        name, example = ("--data", "a folder") if data == "" else ("--database", "sqlite:///PATH")
        raise InvalidInput(f"{name} is empty. Give it {example}, or leave it out.")
    folder = data or environment.get("OLDFRIEND_DATA") or str(user_data_path("oldfriend"))
    path = Path(folder).expanduser().absolute()
    return Settings(
        data=path,
        database=database
        or environment.get("OLDFRIEND_DATABASE")
        or f"sqlite:///{path / DATABASE_FILE}",
        zone=get_localzone_name() or "UTC",
        language=locale_language(environment),
        bench_data=path_or_none(environment.get("OLDFRIEND_BENCH_DATA")),
        bench_float_model=path_or_none(environment.get("OLDFRIEND_BENCH_FLOAT_MODEL")),
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


def sqlite_path(url: str) -> Path:
    """The file that sqlite:///PATH names; relative to the current folder. Raises InvalidInput."""
    scheme, separator, rest = url.partition(":///")
    if scheme != "sqlite" or not separator or not rest:
        raise InvalidInput(
            f"{url!r} does not name a database. Use sqlite:///PATH, "
            "such as sqlite:////home/me/oldfriend.db"
        )
    return Path(rest).expanduser().absolute()
