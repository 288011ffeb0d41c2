"""Deletion key: the secret that keys the fingerprints of deleted content.

It is kept where the provider keys are, outside the data folder, so that nobody with a copy of that
folder can test words against the fingerprints. Machines that share a database need the same key.
"""

import secrets
from typing import Final

from oldfriend.config.keys import DELETION_KEY_NAME, find_key, store_key
from oldfriend.config.settings import Settings
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.i18n_messages import localizable

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
                f"{DELETION_KEY_VARIABLE} has {len(key)} characters, at least {MIN_KEY_LENGTH} "
                "are needed: with a key "
                "that can be guessed, what was forgotten can be, too. "
                "Make one: openssl rand -hex 32",
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
