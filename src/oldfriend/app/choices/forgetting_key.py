"""By which key are the prints of what was forgotten made? Kept where the keys of providers are.

Outside the data folder, so that whoever has a copy of that cannot try out words against the
prints. Where several machines work on one database, all need the same one.
"""

import secrets
from typing import Final

from oldfriend.app.choices.keys import find_key, keep_key
from oldfriend.app.choices.settings import Settings

NAME: Final = "forgetting"
VARIABLE: Final = "OLDFRIEND_FORGETTING_KEY"
_BYTES: Final = 32


def find_forgetting_key(settings: Settings) -> bytes | None:
    """The key; None where nothing was forgotten yet. Raises InvalidInput as keys do."""
    found = find_key(NAME, settings.environment, variable=VARIABLE, data=settings.data)
    return None if found is None else found.value.encode()


def ensure_forgetting_key(settings: Settings) -> bytes:
    """The key; made and kept on the first call."""
    found = find_forgetting_key(settings)
    if found is not None:
        return found
    made = secrets.token_hex(_BYTES)
    keep_key(NAME, made, data=settings.data)
    return made.encode()
