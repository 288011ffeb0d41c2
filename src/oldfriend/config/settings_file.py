"""Settings file: reads ``oldfriend.toml`` and gives each value with its location.

Secrets are rejected. Which settings exist, and what values they take, is checked elsewhere.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

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
        raise build_toml_error(path, f"no UTF-8 in line {line}") from error


def parse_toml(text: str, path: Path) -> Mapping[str, object]:
    """Parse the file. Raises InvalidInput that names the line."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError: also for huge numbers
        raise build_toml_error(path, str(error)) from error


def build_toml_error(path: Path, reason: str) -> InvalidInput:
    """Build the error for a file that is not valid TOML; names the line if the reason has one."""
    text, line = f"{path} is not as TOML is written: {reason}.", re.search(r"\bline (\d+)", reason)
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
                "so "
                "keys and passwords do not go into it: take it out, and have it replaced if the "
                "file "
                "has been anywhere. `oldfriend connect model` keeps a key in the system keyring; "
                "or "
                "set it in the environment.",
                name=name,
                path=str(path),
            )
        )
