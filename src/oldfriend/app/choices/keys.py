"""Where is the key of a provider? In the environment, the system's keyring, or a file for keys.

Asked in this order. The file lies outside the data folder, which is copied and backed up, and only
its owner can read it. No key is ever written anywhere else, and none is shown.
"""

import json
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from platformdirs import user_config_path

from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.sayings import saying
from oldfriend.llm.catalogue import PROVIDERS

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

SERVICE: Final = "oldfriend"
KEYRING: Final = saying("system_keyring", "the system keyring")
FILE_NAME: Final = "keys.toml"
_KEY: Final = re.compile(r"[!-~]{1,4096}")  # printable, without spaces


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key, and where it was found."""

    value: str = field(repr=False)
    where: str


def find_key(
    provider: str, environment: Mapping[str, str], *, variable: str | None = None, data: Path
) -> Key | None:
    """The key of a provider; of ``variable`` instead of the usual ones, where it is named.

    Raises InvalidInput where others could read the file, or it is damaged.
    """
    for name in variables_of(provider, variable):
        if value := environment.get(name, "").strip():
            return Key(value=value, where=name)
    if kept := _in_keyring(provider):
        return Key(value=kept, where=KEYRING)
    path = keys_file(data)
    filed = read_keys(path).get(provider)
    return Key(value=filed, where=str(path)) if filed else None


def variables_of(provider: str, variable: str | None = None) -> tuple[str, ...]:
    """The variables in which a provider's key may be."""
    if variable:
        return (variable,)
    known = PROVIDERS.get(provider)
    return known.keys if known else (f"{provider.upper().replace('-', '_')}_API_KEY",)


def keep_key(provider: str, key: str, *, data: Path) -> str:
    """Keep a key in the system keyring, or where there is none in the file; where that was.

    Raises InvalidInput for what cannot be a key.
    """
    key = key.strip()
    if not _KEY.fullmatch(key):
        raise InvalidInput(saying(
            "key_unfit", "That cannot be a key: it has spaces or unusual characters, or is empty.",
        ))  # fmt: skip
    if _put_into_keyring(provider, key):
        return KEYRING
    path = keys_file(data)
    write_keys(path, {**read_keys(path), provider: key})
    return str(path)


def forget_key(provider: str, *, data: Path) -> bool:
    """Remove a provider's key from the keyring and from the file; whether there was one."""
    was_kept = _in_keyring(provider) is not None and _put_into_keyring(provider, None)
    path = keys_file(data)
    keys = read_keys(path)
    if provider in keys:
        write_keys(path, {name: key for name, key in keys.items() if name != provider})
    return was_kept or provider in keys


def keys_file(data: Path) -> Path:
    """The file for keys; never in the data folder, which some systems have in the same place."""
    folder = user_config_path("oldfriend")
    if folder == data or data in folder.parents:
        folder = user_config_path("oldfriend-keys")
    return folder / FILE_NAME


def read_keys(path: Path) -> dict[str, str]:
    """The keys in the file. Raises InvalidInput where it is not private, or damaged."""
    try:
        with path.open("rb") as file:
            if os.name == "posix" and os.fstat(file.fileno()).st_mode & 0o077:
                raise InvalidInput(saying(
                    "keys_open",
                    f"Others on this machine can read {path}. Make it private "
                    f"(chmod 600 {path}), and have the keys in it replaced.",
                    path=str(path),
                ))  # fmt: skip
            keys = tomllib.load(file)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise InvalidInput(saying(
            "keys_unreadable", f"{path} cannot be read ({error.strerror}).", path=str(path),
            reason=error.strerror or "",
        )) from error  # fmt: skip
    except ValueError as error:
        raise InvalidInput(saying(
            "keys_damaged", f"{path} is damaged. Remove it, and connect again.", path=str(path),
        )) from error  # fmt: skip
    return {name: key for name, key in keys.items() if isinstance(key, str)}


def write_keys(path: Path, keys: Mapping[str, str]) -> None:
    """Write the file anew, readable by its owner alone from its first byte; none, no file."""
    if not keys:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    lines = [f"{name} = {json.dumps(key)}\n" for name, key in sorted(keys.items())]
    new = path.with_name(f".{FILE_NAME}.{os.getpid()}")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write("# Keys of providers, for oldfriend. Not for others.\n" + "".join(lines))
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def _in_keyring(provider: str) -> str | None:
    keyring = _usable_keyring()
    if keyring is None:
        return None
    try:
        return keyring.get_password(SERVICE, provider)
    except _keyring_error():  # locked, and nobody unlocks it
        return None


def _put_into_keyring(provider: str, key: str | None) -> bool:
    """Keep a key, or remove it; whether that went well."""
    keyring = _usable_keyring()
    if keyring is None:
        return False
    try:
        if key is None:
            keyring.delete_password(SERVICE, provider)
        else:
            keyring.set_password(SERVICE, provider, key)
    except _keyring_error():
        return False
    return True


def _usable_keyring() -> "KeyringBackend | None":
    """The system's keyring; None where it is not installed, or there is none that keeps secrets."""
    try:
        keyring = import_module("keyring")
    except ImportError:
        return None
    backend: KeyringBackend = keyring.get_keyring()
    return backend if backend.priority >= 1 else None


def _keyring_error() -> type[Exception]:
    error: type[Exception] = import_module("keyring.errors").KeyringError
    return error
