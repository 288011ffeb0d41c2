"""Cross-signing: has the bot's account vouch for the device that Oldfriend is.

Clients that send keys only to devices that their owner has verified would leave us out otherwise.
"""

import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final, TypeAlias

from nio.api import Api
from vodozemac import Account

Call: TypeAlias = Callable[[str, str, dict[str, Any]], Awaitable[dict[str, Any]]]
"""Makes a call with a method, a path and a body. Raises MatrixError."""

KEYS_FILE: Final = "cross_signing.json"
PICKLE_KEY: Final = b"\0" * 32
"""Encrypts nothing: whoever can read the file can read the keys, so only its owner can."""
USAGES: Final = ("master", "self_signing", "user_signing")
KEYS_PATH: Final = "/_matrix/client/v3/keys"


class SigningKeys:
    """The three keys of an account."""

    def __init__(self, user_id: str, accounts: dict[str, Account]) -> None:
        """Take one key for each usage."""
        self._user_id = user_id
        self._accounts = accounts

    @classmethod
    def create(cls, user_id: str) -> "SigningKeys":
        """Create new keys."""
        return cls(user_id, {usage: Account() for usage in USAGES})

    @classmethod
    def load(cls, user_id: str, folder: Path) -> "SigningKeys | None":
        """Return the stored keys of an account."""
        try:
            stored = json.loads((folder / KEYS_FILE).read_text("utf-8"))
            if stored["user_id"] != user_id:
                return None
            return cls(
                user_id,
                {each: Account.from_pickle(stored[each], PICKLE_KEY) for each in USAGES},
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def dump(self) -> str:
        """Return the keys as they are stored."""
        pickles = {usage: each.pickle(PICKLE_KEY) for usage, each in self._accounts.items()}
        return json.dumps({"user_id": self._user_id, **pickles})

    def get_public_key(self, usage: str) -> str:
        """Return a public key."""
        return str(self._accounts[usage].ed25519_key.to_base64())

    def sign(self, fields: dict[str, Any], usage: str) -> dict[str, Any]:
        """Return an object with one more signature."""
        unsigned = {k: v for k, v in fields.items() if k not in {"signatures", "unsigned"}}
        signature = self._accounts[usage].sign(Api.to_canonical_json(unsigned).encode())
        signatures = {user: dict(given) for user, given in fields.get("signatures", {}).items()}
        key = f"ed25519:{self.get_public_key(usage)}"
        signatures.setdefault(self._user_id, {})[key] = signature.to_base64()
        return {**unsigned, "signatures": signatures}

    def build_upload(self) -> dict[str, Any]:
        """Return the public keys as they are uploaded, each signed by the master key."""
        upload: dict[str, Any] = {}
        for usage in USAGES:
            key = self.get_public_key(usage)
            fields = {"user_id": self._user_id, "usage": [usage], "keys": {f"ed25519:{key}": key}}
            upload[f"{usage}_key"] = fields if usage == "master" else self.sign(fields, "master")
        return upload


class MatrixError(Exception):
    """A refusal of the homeserver, or no answer from it."""

    def __init__(
        self,
        code: str,
        text: str = "",
        *,
        retry_after_s: float | None = None,
        session: str | None = None,
        is_soft: bool = False,
    ) -> None:
        """Take the code of the refusal; "" if there was no answer."""
        super().__init__(f"{code} {text}".strip())
        self.code = code
        self.retry_after_s = retry_after_s
        self.session = session  # if the password is asked for
        self.is_soft = is_soft  # of a token that ended: the device is still known


def write_private_file(path: Path, text: str) -> None:
    """Replace a file that only its owner can read. Raises OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


async def is_device_signed(call: Call, user_id: str, device_id: str) -> bool:
    """Tell whether the account vouches for a device. Raises MatrixError."""
    found = await call("POST", f"{KEYS_PATH}/query", {"device_keys": {user_id: []}})
    device = found.get("device_keys", {}).get(user_id, {}).get(device_id, {})
    signing = found.get("self_signing_keys", {}).get(user_id, {}).get("keys", {})
    return bool(set(signing) & set(device.get("signatures", {}).get(user_id, {})))


async def sign_own_device(
    call: Call, user_id: str, device_id: str, password: str, folder: Path
) -> None:
    """Have the account vouch for our device, unless somebody else has its keys.

    An account without such keys is given some. Raises MatrixError, OSError.
    """
    found = await call("POST", f"{KEYS_PATH}/query", {"device_keys": {user_id: []}})
    device = found.get("device_keys", {}).get(user_id, {}).get(device_id)
    master = found.get("master_keys", {}).get(user_id)
    keys = SigningKeys.load(user_id, folder)
    if device is None:
        return
    if master is None:
        keys = SigningKeys.create(user_id)
        write_private_file(folder / KEYS_FILE, keys.dump())
        await upload_keys(call, keys, user_id, password)
    elif keys is None or f"ed25519:{keys.get_public_key('master')}" not in master.get("keys", {}):
        return
    signed = keys.sign(device, "self_signing")
    await call("POST", f"{KEYS_PATH}/signatures/upload", {user_id: {device_id: signed}})


async def upload_keys(call: Call, keys: SigningKeys, user_id: str, password: str) -> None:
    """Upload the account's keys; a homeserver may ask for the password. Raises MatrixError."""
    path = f"{KEYS_PATH}/device_signing/upload"
    try:
        await call("POST", path, keys.build_upload())
    except MatrixError as error:
        if error.session is None:
            raise
        auth = {
            "type": "m.login.password",
            "identifier": {"type": "m.id.user", "user": user_id},
            "password": password,
            "session": error.session,
        }
        await call("POST", path, {**keys.build_upload(), "auth": auth})
