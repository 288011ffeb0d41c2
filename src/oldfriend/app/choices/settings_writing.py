"""How is a choice kept in ``oldfriend.toml``? Beside what stands there, comments and all.

It does not know which keys there are; what would not be read again is not written.
"""

import os
import tomllib
from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import TypeAlias

import tomlkit
from tomlkit.exceptions import TOMLKitError

from oldfriend.app.choices.settings_file import no_toml
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.sayings import saying

Written: TypeAlias = str | int | float | Sequence[str] | None
"""What can be written; None takes a key away."""

HEADING = "Settings of Oldfriend. `oldfriend connect` writes here too; keys do not belong here."


def write_choices(path: Path, choices: Mapping[str, Written]) -> None:
    """Keep choices under their names, such as "models.main"; None takes one away.

    Raises InvalidInput where the file cannot be read, or not be written.
    """
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else f"# {HEADING}\n"
        document = tomlkit.parse(text)
        for name, value in choices.items():
            *tables, key = name.split(".")
            put(document, tables, key, value)
        written = tomlkit.dumps(document)
        tomllib.loads(written)
        replace_file(path, written)
    except OSError as error:
        raise InvalidInput(saying(
            "settings_unwritable", f"{path} cannot be written ({error.strerror}).", path=str(path),
            reason=error.strerror or "",
        )) from error  # fmt: skip
    except (ValueError, TypeError, TOMLKitError) as error:
        raise no_toml(path, str(error)) from error


def put(
    inside: MutableMapping[str, object], tables: Sequence[str], key: str, value: Written
) -> None:
    """Set or remove a key in a table within tables; one that is empty then goes."""
    if not tables:
        if value is None:
            inside.pop(key, None)
        else:
            inside[key] = value
        return
    inner = inside.get(tables[0])
    if inner is None:
        if value is None:
            return
        inner = tomlkit.table(is_super_table=len(tables) > 1)
        inside[tables[0]] = inner
        inner = inside[tables[0]]
    if not isinstance(inner, MutableMapping):
        raise TypeError(f"{tables[0]} is a value where a section should be")
    put(inner, tables[1:], key, value)
    if not inner:
        del inside[tables[0]]


def replace_file(path: Path, text: str) -> None:
    """Write a file so that a reader finds the old one or the new one, whole."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.{os.getpid()}")
    with new.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    if path.exists():
        new.chmod(path.stat().st_mode & 0o777)
    new.replace(path)
