"""Oura connection: the application and the tokens, beside keys, and consent that is expected.

A refresh token can be used once. What Oura gives for it is written to disk before anything else is
done with it, by one replace of the file: whatever ends the process then, one of both is there.
"""

import asyncio
import os
import re
import secrets
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from oldfriend.config.keys import (
    OURA_NAME,
    Credential,
    delete_key,
    find_key,
    get_keys_path,
    store_key,
)
from oldfriend.config.settings import Settings
from oldfriend.domain.clock import HOUR, Micros
from oldfriend.domain.errors import FetchFailed, InvalidInput
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import PersonId
from oldfriend.measurements.oura_store import OuraConnection
from oldfriend.transfer.oura_client import (
    OuraApplication,
    OuraRefused,
    OuraTokens,
    dump_tokens,
    parse_tokens,
    refresh_tokens,
)
from oldfriend.web.safe_fetch import WebFetcher

APPLICATION_VARIABLE: Final = "OURA_CLIENT"
CONSENT_FOR: Final[Micros] = HOUR
MAX_GRACE_S: Final = 20.0
"""How long somebody who is cancelled waits until what Oura gave is on disk."""
PLAIN_ID: Final = re.compile(r"[!-9;-~]{1,200}")  # printable, without spaces and colons


def new_state() -> str:
    """Return what Oura must send back, so that nobody else's consent is taken for a person's."""
    return secrets.token_urlsafe(24)


def is_answer_expected(connection: OuraConnection | None, state: str, *, now: Micros) -> bool:
    """Tell whether a person was asked to agree lately, and with this state."""
    return (
        connection is not None
        and bool(connection.state)
        and secrets.compare_digest(connection.state, state)
        and now - connection.began_at <= CONSENT_FOR
    )


def find_application(settings: Settings) -> OuraApplication | None:
    """Return the application that the owner has registered; None if none is known here."""
    found: Credential | None = find_key(
        OURA_NAME, settings.environment, variable=APPLICATION_VARIABLE, data=settings.data
    )
    name, _, secret = ("" if found is None else found.value).partition(":")
    return OuraApplication(id=name, secret=secret) if name and secret else None


def store_application(settings: Settings, application: OuraApplication) -> str:
    """Store the application where keys are, and return where. Raises InvalidInput."""
    if not (PLAIN_ID.fullmatch(application.id) and PLAIN_ID.fullmatch(application.secret)):
        raise InvalidInput(
            localizable(
                "oura_application_unfit",
                "That cannot be an application of Oura: copy its client id and client secret.",
            )
        )
    return store_key(OURA_NAME, f"{application.id}:{application.secret}", data=settings.data)


def forget_application(settings: Settings) -> bool:
    """Delete the application; return whether there was one."""
    return delete_key(OURA_NAME, data=settings.data)


@dataclass(frozen=True, slots=True)
class TokenFile:
    """The file of one person's tokens; only whoever runs this program can read it."""

    path: Path

    def load(self) -> OuraTokens | None:
        """Return the tokens; None without any, or if the file is damaged."""
        try:
            return parse_tokens(self.path.read_text("utf-8"))
        except (OSError, UnicodeDecodeError):
            return None

    def save(self, tokens: OuraTokens) -> None:
        """Put tokens in place of the earlier ones: on disk, or not at all."""
        folder = self.path.parent
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(dump_tokens(tokens))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self.path)
        if os.name == "posix":
            sync_folder(folder)

    def delete(self) -> None:
        """Delete the file, and what a process has left that died while it wrote tokens.

        It goes before the connection does: a crash in between leaves a connection that says so, and
        no tokens that nobody knows of.
        """
        for each in (self.path, *self.path.parent.glob(f".{self.path.name}.*")):
            each.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Have a replaced file outlive a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def get_token_file(settings: Settings, person: PersonId) -> TokenFile:
    """Return the file of a person's tokens: beside the key file, not in the data folder."""
    return TokenFile(get_keys_path(settings.data).with_name("oura") / f"{person}.json")


async def get_fresh_tokens(
    fetcher: WebFetcher, application: OuraApplication, file: TokenFile, *, now: Micros
) -> OuraTokens | None:
    """Return tokens that can be used, renewed if half of their life is over; None without any.

    Where they cannot be renewed, those that are there serve as long as they last. Whoever is
    cancelled meanwhile waits until what Oura gave is on disk. Raises OuraRefused, FetchFailed.
    """
    tokens = await asyncio.to_thread(file.load)
    if tokens is None or tokens.is_fresh(now):
        return tokens
    try:
        return await finish_if_cancelled(renew(fetcher, application, file, tokens, now=now))
    except (OuraRefused, FetchFailed):
        if not tokens.is_usable(now):
            raise
        return tokens


async def finish_if_cancelled(work: Coroutine[Any, Any, OuraTokens]) -> OuraTokens:
    """Do work that is finished also if whoever waits for it is cancelled."""
    try:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(work)
            try:
                return await asyncio.shield(task)
            except asyncio.CancelledError:
                await asyncio.wait({task}, timeout=MAX_GRACE_S)
                raise
    except BaseExceptionGroup as failed:
        raise failed.exceptions[-1] from failed


async def renew(
    fetcher: WebFetcher,
    application: OuraApplication,
    file: TokenFile,
    tokens: OuraTokens,
    *,
    now: Micros,
) -> OuraTokens:
    """Spend a refresh token, and keep what is given for it before it is used."""
    renewed = await refresh_tokens(fetcher, application, tokens.refresh, now=now)
    await asyncio.to_thread(file.save, renewed)
    return renewed
