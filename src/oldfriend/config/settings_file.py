"""Settings file: reads ``oldfriend.toml`` with locations, and changes values but nothing else.

Secrets are rejected. Which settings exist, and what values they take, is checked elsewhere. A file
that could not be read back is not written.
"""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import tomlkit
from tomlkit.exceptions import TOMLKitError

from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.i18n_messages import LocalizedText, localizable
from oldfriend.domain.setting_parsers import RawSetting

SETTINGS_FILE_NAME: Final = "oldfriend.toml"
_TABLE: Final = re.compile(r"\A\s*+\[([^\[\]]+)\]")
_NAME: Final = re.compile(r"\A\s*+([\w.\"'-]++(?: ++[\w.\"'-]++)*+)\s*+=")
_SECRET_NAME: Final = re.compile(r"(^|[_-])(key|apikey|token|secret|password|passwd)$", re.I)
_SECRET_VALUE: Final = re.compile(
    r"\b(sk-|sk_|gsk_|xai-|AIza|hf_)[\w-]{12,}"  # keys as well-known providers issue them
    r"|://[^/\s]*:[^/\s]*@"  # a password in a URL
)


def read_settings_file(path: Path) -> dict[str, RawSetting]:
    """Read the values in the file by their names, such as "limits.lease_s"; none if there is no
    file.

    Raises InvalidInput if it cannot be read, or contains a secret.
    """
    text = read_settings_text(path)
    lines = find_key_lines(text)
    found: dict[str, RawSetting] = {}
    for name, value in flatten_tables(parse_toml(text, path)):
        reject_secret(name, value, path)
        found[name] = RawSetting(
            value=value, source=format_location(name, path, lines), is_text=False
        )
    return found


def format_location(name: str, path: Path, lines: Mapping[str, int]) -> LocalizedText:
    """Return where a value is in the file."""
    if (line := lines.get(name)) is None:
        return localizable("setting_in_file", f"{name} in {path}", name=name, path=str(path))
    text = f"{name} in {path}, line {line}"
    return localizable("setting_in_line", text, name=name, path=str(path), line=line)


def read_settings_text(path: Path) -> str:
    """Return the content of the file; empty if there is none. Raises InvalidInput."""
    try:
        return path.read_bytes().decode()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise InvalidInput(
            localizable(
                "settings_unreadable",
                f"{path} cannot be read ({error.strerror}).",
                path=str(path),
                reason=error.strerror or "",
            )
        ) from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise build_toml_error(path, f"line {line} is not UTF-8") from error


def parse_toml(text: str, path: Path) -> Mapping[str, object]:
    """Parse the file. Raises InvalidInput that names the line."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError: also for huge numbers
        raise build_toml_error(path, str(error)) from error


def build_toml_error(path: Path, reason: str) -> InvalidInput:
    """Build the error for a file that is not valid TOML; names the line if the reason has one."""
    text, line = f"{path} is not valid TOML: {reason}.", re.search(r"\bline (\d+)", reason)
    if line is None:
        return InvalidInput(localizable("settings_no_toml", text, path=str(path), why=reason))
    return InvalidInput(
        localizable("settings_no_toml_in", text, path=str(path), why=reason, line=int(line[1]))
    )


def find_key_lines(text: str) -> dict[str, int]:
    """Return the line number of each name, as far as it is written plainly."""
    lines: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if heading := _TABLE.match(line):
            table = f"{normalize_key(heading[1])}."
        elif key := _NAME.match(line):
            lines[f"{table}{normalize_key(key[1])}"] = number
    return lines


def normalize_key(written: str) -> str:
    """Return a dotted name without quotes and blanks."""
    return re.sub(r"[\"'\s]", "", written)


def flatten_tables(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Yield the values of a table and its subtables by their dotted names."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from flatten_tables(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def reject_secret(name: str, value: object, path: Path) -> None:
    """Raise InvalidInput, without quoting it, for a value that must not be in a file."""
    texts = value if isinstance(value, list) else [value]
    if _SECRET_NAME.search(name) or any(_SECRET_VALUE.search(str(text)) for text in texts):
        raise InvalidInput(
            localizable(
                "settings_secret",
                f"{name} in {path} looks like a secret. That file is copied, backed up and shown, "
                "so it must not contain keys or passwords. Remove it, and replace it if anybody "
                "else may have seen the file. `oldfriend connect model` stores a key in the "
                "system keyring; or set it in the environment.",
                name=name,
                path=str(path),
            )
        )


TomlValue: TypeAlias = str | int | float | Sequence[str] | None
"""What can be written; None deletes a key."""

FILE_HEADER = "Settings of Oldfriend. `oldfriend connect` writes here, too. Do not put keys here."


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
