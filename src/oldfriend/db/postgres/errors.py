"""What do PostgreSQL's errors mean to us?"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import psycopg

from oldfriend.db.postgres.address import Address
from oldfriend.domain.errors import (
    InvalidInput,
    OldfriendError,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreNotFound,
    StoreUnusable,
)

FULL: Final = {"53100"}
CONTENDED: Final = {"40001", "40P01", "55P03", "57014"}
AWAY: Final = {"25P03", "53200", "53300", "57P01", "57P02", "57P03", "57P05"}  # and class 08
NOT_ALLOWED: Final = {"42501", "25006"}
DAMAGED: Final = {"XX001", "XX002"}
NO_TEXT: Final = {"22021", "22P05"}

MAYBE_SAVED: Final = (
    "It may have been saved all the same: look first, in a chat with /history, else with the "
    "command that lists it."
)

REFUSED: Final = re.compile(r"password|authentication|role .* does not exist|pg_hba|permission")
NO_DATABASE: Final = re.compile(r'database ".*" does not exist')
NOT_NOW: Final = re.compile(r"too many|connection slots|starting up|shutting down|recovery")


@contextmanager
def our_errors(address: Address, *, is_commit: bool = False) -> Iterator[None]:
    """Turn the errors of a statement into ours, which say what to do."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise no_text(error.object) from error
    except psycopg.Error as error:
        raise our_error(error, address, is_commit=is_commit) from error


def no_text(what: str) -> InvalidInput:
    """The error for what no database can hold as text."""
    return InvalidInput(f"{what[:50]!r} cannot be stored: it is not wholly text.")


def our_error(error: psycopg.Error, address: Address, *, is_commit: bool = False) -> OldfriendError:
    """The error of ours for one of a statement's, or of the commit's."""
    state = error.sqlstate or ""
    said = first_line(error)
    if state in FULL:
        return StoreFull(
            f"The disk of {address.shown} is full. What was saved before is safe; "
            "this was not saved. Free some space and try again."
        )
    if state in CONTENDED:
        return StoreBusy(
            f"Others write the same in {address.shown} ({said}). Try again in a moment."
        )
    if state in AWAY or state.startswith("08") or (not state and is_about_the_line(error)):
        known = MAYBE_SAVED if is_commit else "What was not finished was not saved."
        return StoreBusy(
            f"The connection to {address.shown} broke ({said}). {known} Try again in a moment."
        )
    if state in NOT_ALLOWED:
        return StoreUnusable(
            f"{address.shown} does not allow that ({said}). The user needs the right to create and "
            "change tables there, on a server that may be written."
        )
    if state in DAMAGED:
        return StoreDamaged(f"{address.shown} is not sound ({said}). Restore a backup.")
    if state in NO_TEXT or (isinstance(error, psycopg.DataError) and not state):
        return InvalidInput(f"Something cannot be stored: {said}")
    return StoreError(f"The database said: {said}")


def is_about_the_line(error: psycopg.Error) -> bool:
    """Whether the connection failed, not a statement."""
    return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)


def why_not_connected(error: psycopg.Error, address: Address) -> StoreError:
    """The error of ours when no connection came to be. libpq gives no code then, only words."""
    said = str(error).strip()
    if NO_DATABASE.search(said):
        return StoreNotFound(
            f"There is no such database at {address.shown} ({first_line(error)}). "
            "Make it first: createdb --encoding=UTF8 NAME"
        )
    if NOT_NOW.search(said):
        return StoreBusy(f"{address.shown} takes no more connections now ({first_line(error)}).")
    if REFUSED.search(said):
        return StoreUnusable(
            f"{address.shown} did not let us in ({first_line(error)}). Check the name and the "
            "password: in the address, in PGPASSWORD, or in ~/.pgpass."
        )
    return StoreUnusable(
        f"{address.shown} cannot be reached ({first_line(error)}). Is the server running, and "
        "are host and port right?"
    )


def first_line(error: psycopg.Error) -> str:
    """What the server or the driver said, shortly."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if "FATAL" in line] or lines or [type(error).__name__]
    return telling[0].removeprefix("connection failed: ")[:300]
