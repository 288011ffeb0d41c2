"""Settings writer: changes values in ``oldfriend.toml`` and keeps everything else, even comments.

It does not know which keys exist; a file that could not be read back is not written.
"""

import os
import tomllib
from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import TypeAlias

import tomlkit
from tomlkit.exceptions import TOMLKitError

from oldfriend.config.settings_file import build_toml_error
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.i18n_messages import localizable

TomlValue: TypeAlias = str | int | float | Sequence[str] | None
"""What can be written; None deletes a key."""

FILE_HEADER = "Settings of Oldfriend. `oldfriend connect` writes here too; keys do not belong here."


def update_settings_file(path: Path, changes: Mapping[str, TomlValue]) -> None:
    """Write values under their names, such as "models.main"; None deletes one.

    Raises InvalidInput if the file cannot be parsed or written.
    """
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else f"# {FILE_HEADER}\n"
        document = tomlkit.parse(text)
        for name, value in changes.items():
            *tables, key = name.split(".")
            set_toml_key(document, tables, key, value)
        written = tomlkit.dumps(document)
        tomllib.loads(written)
        replace_file_atomically(path, written)
    except OSError as error:
        raise InvalidInput(
            localizable(
                "settings_unwritable",
                f"{path} cannot be written ({error.strerror}).",
                path=str(path),
                reason=error.strerror or "",
            )
        ) from error
    except (ValueError, TypeError, RecursionError, TOMLKitError) as error:
        raise build_toml_error(path, str(error)) from error


def set_toml_key(
    table: MutableMapping[str, object], table_path: Sequence[str], key: str, value: TomlValue
) -> None:
    """Set or delete a key in a nested table; a table that becomes empty is deleted."""
    if not table_path:
        if value is None:
            table.pop(key, None)
        else:
            table[key] = value
        return
    inner = table.get(table_path[0])
    if inner is None:
        if value is None:
            return
        inner = tomlkit.table(is_super_table=len(table_path) > 1)
        table[table_path[0]] = inner
        inner = table[table_path[0]]
    if not isinstance(inner, MutableMapping):
        raise TypeError(f"{table_path[0]} is a value where a section should be")
    set_toml_key(inner, table_path[1:], key, value)
    if not inner:
        del table[table_path[0]]


def replace_file_atomically(path: Path, text: str) -> None:
    """Replace a file so that readers see either the old or the new content."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    if path.exists():
        temporary.chmod(path.stat().st_mode & 0o777)
    temporary.replace(path)
