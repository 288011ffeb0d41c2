"""Doctor checks: the result of a check, and the check for files that other accounts can change."""

import os
import shlex
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from oldfriend.config.keys import get_keys_path
from oldfriend.config.settings import Settings, is_postgres_url, parse_database_path
from oldfriend.domain.i18n_messages import MessageCode, MessageValue, localizable

READ_ONLY_STORE: Final = localizable(
    "store_read_only",
    "This memory is read-only: the file, its folder or its disk cannot be written, or the disk is "
    "full. Nothing new is kept.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """The result of one check."""

    is_ok: bool
    text: str


def report_ok(code: MessageCode, text: str, /, **values: MessageValue) -> CheckResult:
    """Build the result of a check that passed."""
    return CheckResult(is_ok=True, text=localizable(code, text, **values))


def report_problem(code: MessageCode, text: str, /, **values: MessageValue) -> CheckResult:
    """Build the result of a check that somebody should look at."""
    return CheckResult(is_ok=False, text=localizable(code, text, **values))


if sys.platform != "win32":
    import grp
    import pwd


def check_permissions(settings: Settings) -> list[CheckResult]:
    """Return a finding, with the command that fixes it, for each path that others may change."""
    if os.name != "posix":
        return []
    return [
        build_open_result(path) for path in iter_install_paths(settings) if is_open_to_others(path)
    ]


def build_open_result(path: Path) -> CheckResult:
    """Build the finding that others may change a file or folder."""
    command = f"chmod go-w {shlex.quote(str(path))}"
    return report_problem(
        "open_to_others",
        f"Other accounts on this machine can change {path}, and with it what is remembered or "
        f"set. To prevent that: {command}",
        path=str(path),
        command=command,
    )


def iter_install_paths(settings: Settings) -> Iterator[Path]:
    """Yield the folders and files in which an install is kept, each once."""
    keys = get_keys_path(settings.data)
    paths = [settings.data, settings.file, keys.parent, keys]
    if not is_postgres_url(settings.database):
        database = parse_database_path(settings.database)
        paths += [database.parent, database]
    yield from dict.fromkeys(paths)


def is_open_to_others(path: Path) -> bool:
    """Return whether anybody but its owner and root may write to an existing file or folder."""
    try:
        found = path.stat()
    except OSError:
        return False
    by_all, by_group = found.st_mode & stat.S_IWOTH, found.st_mode & stat.S_IWGRP
    return bool(by_all or (by_group and not is_private_group(found.st_gid, found.st_uid)))


def is_private_group(group: int, owner: int) -> bool:
    """Return whether a group is the owner's own, as many systems create for each account."""
    try:
        found, name = grp.getgrgid(group), pwd.getpwuid(owner).pw_name
    except KeyError:  # this id has no name here, as in a container
        return False
    return found.gr_name == name and set(found.gr_mem) <= {name}
