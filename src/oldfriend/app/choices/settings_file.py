"""What stands in ``oldfriend.toml``? Each value with its place; nothing secret.

It does not know which keys there are, nor what their values should be like.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from oldfriend.app.choices.choosing import Given
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.sayings import Saying, saying

FILE_NAME: Final = "oldfriend.toml"
_TABLE: Final = re.compile(r"\s*\[([^\[\]]+)\]")
_NAME: Final = re.compile(r"\s*([\w.\"' -]+?)\s*=")
_SECRET_NAME: Final = re.compile(r"(^|[_-])(key|apikey|token|secret|password|passwd)$", re.I)
_SECRET_VALUE: Final = re.compile(
    r"\b(sk-|sk_|gsk_|xai-|AIza|hf_)[\w-]{12,}"  # keys as the well-known providers make them
    r"|://[^/\s]*:[^/\s]*@"  # a password in an address
)


def read_file(path: Path) -> dict[str, Given]:
    """Each value under its name, such as "limits.lease_s"; none where there is no file.

    Raises InvalidInput where it cannot be read, and where it holds a secret.
    """
    text = text_of(path)
    lines = lines_of_names(text)
    found: dict[str, Given] = {}
    for name, value in leaves(tables_in(text, path)):
        refuse_secret(name, value, path)
        found[name] = Given(value=value, where=place_of(name, path, lines), is_text=False)
    return found


def place_of(name: str, path: Path, lines: Mapping[str, int]) -> Saying:
    """Where in the file a value stands."""
    if (line := lines.get(name)) is None:
        return saying("setting_in_file", f"{name} in {path}", name=name, path=str(path))
    told = f"{name} in {path}, line {line}"
    return saying("setting_in_line", told, name=name, path=str(path), line=line)


def text_of(path: Path) -> str:
    """What stands in the file; nothing where there is none. Raises InvalidInput."""
    try:
        return path.read_bytes().decode()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise InvalidInput(saying(
            "settings_unreadable", f"{path} cannot be read ({error.strerror}).", path=str(path),
            reason=error.strerror or "",
        )) from error  # fmt: skip
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise no_toml(path, f"no UTF-8 in line {line}") from error


def tables_in(text: str, path: Path) -> Mapping[str, object]:
    """The file as it is. Raises InvalidInput, naming the line."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise no_toml(path, str(error)) from error


def no_toml(path: Path, why: str) -> InvalidInput:
    """That a file cannot be read as TOML; where, if the reason says it."""
    text, line = f"{path} is not as TOML is written: {why}.", re.search(r"\bline (\d+)", why)
    if line is None:
        return InvalidInput(saying("settings_no_toml", text, path=str(path), why=why))
    return InvalidInput(
        saying("settings_no_toml_in", text, path=str(path), why=why, line=int(line[1]))
    )


def lines_of_names(text: str) -> dict[str, int]:
    """In which line each name is given, as far as it is written plainly."""
    lines: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if heading := _TABLE.match(line):
            table = f"{plain_name(heading[1])}."
        elif given := _NAME.match(line):
            lines[f"{table}{plain_name(given[1])}"] = number
    return lines


def plain_name(written: str) -> str:
    """A dotted name without quotes and blanks."""
    return re.sub(r"[\"'\s]", "", written)


def leaves(table: Mapping[str, object], before: str = "") -> Iterator[tuple[str, object]]:
    """The values in a table and in those within it, each with its whole name."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def refuse_secret(name: str, value: object, path: Path) -> None:
    """Raise InvalidInput, without showing it, where a value must not stand in a file."""
    texts = value if isinstance(value, list) else [value]
    if _SECRET_NAME.search(name) or any(_SECRET_VALUE.search(str(text)) for text in texts):
        raise InvalidInput(saying(
            "settings_secret",
            f"{name} in {path} looks like a secret. That file is copied, backed up and shown, so "
            "keys and passwords do not go into it: take it out, and have it replaced if the file "
            "has been anywhere. `oldfriend connect model` keeps a key in the system keyring; or "
            "set it in the environment.",
            name=name, path=str(path),
        ))  # fmt: skip
