"""Keys of providers and the deletion key: in the environment, the system keyring or a file.

These places are searched in this order. The key file lies outside the data folder, which is copied
and backed up, and only its owner can read it. No key is ever written anywhere else, and none is
displayed. A stored key is bound to the origin of the address it is for and is found for that origin
alone; keys that older versions stored have no origin and are found for any address in the settings.

The deletion key is kept there, too, so that nobody with a copy of the data folder can test words
against the fingerprints. Machines that share a database need the same key.
"""

import json
import os
import re
import secrets
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final

from platformdirs import user_config_path

from oldfriend.channels.channel_registry import CHANNELS
from oldfriend.config.settings import Settings
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.i18n_messages import localizable
from oldfriend.llm.addresses import parse_origin
from oldfriend.llm.providers import PROVIDERS

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

KEYRING_SERVICE: Final = "oldfriend"
KEYRING_LABEL: Final = localizable("system_keyring", "the system keyring")
KEYS_FILE_NAME: Final = "keys.toml"
DELETION_KEY_NAME: Final = "forgetting"
OURA_NAME: Final = "oura"
"""Of the application that the owner has registered there: id and secret, joined by a colon."""
PUSH_NAME: Final = "push"
"""Of the key by which push services know this installation."""
RESERVED_NAMES: Final = frozenset({*CHANNELS, DELETION_KEY_NAME, OURA_NAME, PUSH_NAME})
"""Names under which secrets other than provider keys are stored."""
ORIGIN_SUFFIX: Final = "_address"
"""The suffix of the entry for a key's origin; no provider name has an underscore."""
_KEY_PATTERN: Final = re.compile(r"[!-~]{1,4096}")  # printable, without spaces


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """A key and its source."""

    value: str = field(repr=False)
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCredential(Credential):
    """A key from the keyring or file, and its origin; None if stored by an older version."""

    origin: str | None


def find_key(
    provider: str,
    environment: Mapping[str, str],
    *,
    variable: str | None = None,
    data: Path,
    address: str | None = None,
) -> Credential | None:
    """Find the key of a provider, in ``variable`` instead of its usual variables if given.

    ``address`` is where the key is to be sent; None means nowhere. Raises InvalidInput if others
    can read the key file, or it is corrupt.
    """
    for name in list_key_variables(provider, variable):
        if value := environment.get(name, "").strip():
            return Credential(value=value, source=name)
    return find_stored_key(provider, address, data=data)


def find_stored_key(provider: str, address: str | None, *, data: Path) -> StoredCredential | None:
    """Find the stored key of a provider for an address. Raises InvalidInput."""
    stored = [*_list_stored_keys(provider, data)]
    if address is not None:
        is_bound = any(each.origin for each in stored)  # then a key without an origin is outdated
        wanted = parse_origin(address) if is_bound else None
        stored = [each for each in stored if each.origin == wanted]
    return stored[0] if stored else None


def find_key_for_other_origin(
    provider: str, address: str, *, data: Path
) -> StoredCredential | None:
    """Find a key of a provider that is stored for other addresses only. Raises InvalidInput."""
    stored = [*_list_stored_keys(provider, data)]
    if not any(each.origin for each in stored) or any(
        each.origin == parse_origin(address) for each in stored
    ):
        return None
    return next(each for each in stored if each.origin)


def _list_stored_keys(provider: str, data: Path) -> Iterator[StoredCredential]:
    """Yield the keys of a provider from the keyring and the file."""
    if in_keyring := _find_in_keyring(provider):
        yield StoredCredential(
            value=in_keyring,
            source=KEYRING_LABEL,
            origin=_find_in_keyring(provider + ORIGIN_SUFFIX),
        )
    path = get_keys_path(data)
    keys = read_keys(path)
    if in_file := keys.get(provider):
        yield StoredCredential(
            value=in_file, source=str(path), origin=keys.get(provider + ORIGIN_SUFFIX)
        )


def list_key_variables(provider: str, variable: str | None = None) -> tuple[str, ...]:
    """Return the variables that may hold a provider's key: the given one, or its usual ones."""
    if variable:
        return (variable,)
    known = PROVIDERS.get(provider)
    return known.key_variables if known else ()


def store_key(provider: str, key: str, *, data: Path, address: str | None = None) -> str:
    """Store a key for an address in the system keyring, else in the file; return where.

    Raises InvalidInput for what cannot be a key.
    """
    key = key.strip()
    if not _KEY_PATTERN.fullmatch(key):
        raise InvalidInput(
            localizable(
                "key_unfit",
                "That cannot be a key: it contains spaces or unusual characters, or is empty.",
            )
        )
    origin = None if address is None else parse_origin(address)
    path = get_keys_path(data)
    other_keys = _remove_provider(provider, read_keys(path))
    _write_to_keyring(provider, None)  # a key must never have the origin of another key
    is_bound = _write_to_keyring(provider + ORIGIN_SUFFIX, origin)
    if (is_bound or origin is None) and _write_to_keyring(provider, key):
        if provider in read_keys(path):
            write_keys(path, other_keys)
        return KEYRING_LABEL
    write_keys(
        path,
        {**other_keys, provider: key, **({provider + ORIGIN_SUFFIX: origin} if origin else {})},
    )
    return str(path)


def delete_key(provider: str, *, data: Path) -> bool:
    """Delete a provider's key from the keyring and the file, and return whether there was one."""
    was_in_keyring = _find_in_keyring(provider) is not None and _write_to_keyring(provider, None)
    _write_to_keyring(provider + ORIGIN_SUFFIX, None)
    path = get_keys_path(data)
    keys = read_keys(path)
    if provider in keys:
        write_keys(path, _remove_provider(provider, keys))
    return was_in_keyring or provider in keys


def _remove_provider(provider: str, keys: Mapping[str, str]) -> dict[str, str]:
    """Return the keys of the file without those of a provider."""
    return {
        name: key for name, key in keys.items() if name not in {provider, provider + ORIGIN_SUFFIX}
    }


def get_keys_path(data: Path) -> Path:
    """Return the path of the key file; never in the data folder, which is in the same place on some
    systems.
    """
    folder = user_config_path("oldfriend")
    if folder == data or data in folder.parents:
        folder = user_config_path("oldfriend-keys")
    return folder / KEYS_FILE_NAME


def read_keys(path: Path) -> dict[str, str]:
    """Read the key file. Raises InvalidInput if it is not private, or is corrupt."""
    try:
        with path.open("rb") as file:
            if os.name == "posix" and os.fstat(file.fileno()).st_mode & 0o077:
                raise InvalidInput(
                    localizable(
                        "keys_open",
                        f"Others on this machine can read {path}. Make it private (chmod 600 "
                        f"{path}), and replace the keys in it.",
                        path=str(path),
                    )
                )
            keys = tomllib.load(file)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise InvalidInput(
            localizable(
                "keys_unreadable",
                f"{path} cannot be read ({error.strerror}).",
                path=str(path),
                reason=error.strerror or "",
            )
        ) from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            localizable(
                "keys_damaged",
                f"{path} is damaged. Remove it, and connect again.",
                path=str(path),
            )
        ) from error
    return {name: key for name, key in keys.items() if isinstance(key, str)}


def write_keys(path: Path, keys: Mapping[str, str]) -> None:
    """Write the key file, private to its owner from the first byte; delete it if empty."""
    if not keys:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    lines = [f"{name} = {json.dumps(key)}\n" for name, key in sorted(keys.items())]
    temporary = path.with_name(f".{KEYS_FILE_NAME}.{os.getpid()}")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(
            "# Keys of model providers for Oldfriend. Show this file to nobody.\n" + "".join(lines)
        )
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def _find_in_keyring(provider: str) -> str | None:
    keyring = _find_keyring()
    if keyring is None:
        return None
    try:
        return keyring.get_password(KEYRING_SERVICE, provider)
    except _load_keyring_error():  # locked, and nobody unlocks it
        return None


def _write_to_keyring(provider: str, key: str | None) -> bool:
    """Store or delete (None) a key in the keyring, and return whether that succeeded."""
    keyring = _find_keyring()
    if keyring is None:
        return False
    try:
        if key is None:
            keyring.delete_password(KEYRING_SERVICE, provider)
        else:
            keyring.set_password(KEYRING_SERVICE, provider, key)
    except _load_keyring_error():
        return False
    return True


def _find_keyring() -> "KeyringBackend | None":
    """Return the system keyring; None if it is not installed, or no backend stores secrets."""
    _skip_macos_backend()
    try:
        keyring = import_module("keyring")
    except ImportError:
        return None
    backend: KeyringBackend = keyring.get_keyring()
    return backend if backend.priority >= 1 else None


def _skip_macos_backend() -> None:
    """Keep keyring's search for macOS libraries from starting a compiler on other systems."""
    if sys.platform != "darwin":
        api = "keyring.backends.macOS.api"
        sys.modules.setdefault(api, ModuleType(api))


def _load_keyring_error() -> type[Exception]:
    error: type[Exception] = import_module("keyring.errors").KeyringError
    return error


DELETION_KEY_VARIABLE: Final = "OLDFRIEND_FORGETTING_KEY"
MIN_KEY_LENGTH: Final = 16
"""Characters of a key: whoever can guess it can test words against the fingerprints."""
_KEY_BYTES: Final = 32


def find_deletion_key(settings: Settings) -> bytes | None:
    """Return the key; None if nothing was ever deleted. Raises InvalidInput, also if it is too
    short.
    """
    reject_short_key(settings)
    found = find_key(
        DELETION_KEY_NAME, settings.environment, variable=DELETION_KEY_VARIABLE, data=settings.data
    )
    return None if found is None else found.value.encode()


def reject_short_key(settings: Settings) -> None:
    """Raise InvalidInput if the variable holds a key that can be guessed."""
    key = settings.environment.get(DELETION_KEY_VARIABLE, "").strip()
    if 0 < len(key) < MIN_KEY_LENGTH:
        raise InvalidInput(
            localizable(
                "forgetting_key_short",
                f"{DELETION_KEY_VARIABLE} has {len(key)} characters but needs at least "
                f"{MIN_KEY_LENGTH}: if the key can be guessed, so can what was forgotten. To make "
                "one: openssl rand -hex 32",
                variable=DELETION_KEY_VARIABLE,
                length=len(key),
                least=MIN_KEY_LENGTH,
            )
        )


def ensure_deletion_key(settings: Settings) -> bytes:
    """Return the key; it is created and stored on the first call."""
    found = find_deletion_key(settings)
    if found is not None:
        return found
    new_key = secrets.token_hex(_KEY_BYTES)
    store_key(DELETION_KEY_NAME, new_key, data=settings.data)
    return new_key.encode()
