"""PostgreSQL error mapping: turns errors of psycopg and libpq into ours."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import psycopg

from oldfriend.db.postgres.address import PostgresAddress
from oldfriend.domain.errors import (
    InvalidInput,
    OldfriendError,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreNotFound,
    StoreUnusable,
)

DISK_FULL: Final = {"53100"}
CONTENTION: Final = {"40001", "40P01", "55P03", "57014"}
DISCONNECTED: Final = {
    "25P03",
    "53200",
    "53300",
    "57P01",
    "57P02",
    "57P03",
    "57P05",
}  # and class 08
NOT_ALLOWED: Final = {"42501", "25006"}
CORRUPT: Final = {"XX001", "XX002"}
INVALID_TEXT: Final = {"22021", "22P05"}

MAYBE_SAVED: Final = (
    "It may have been saved all the same: look first, in a chat with /history, else with the "
    "command that lists it."
)

LOGIN_REJECTED: Final = re.compile(
    r"password|authentication|role .* does not exist|pg_hba|permission"
)
NO_DATABASE: Final = re.compile(r'database "[^"]*" does not exist')
UNAVAILABLE: Final = re.compile(r"too many|connection slots|starting up|shutting down|recovery")


@contextmanager
def map_postgres_errors(address: PostgresAddress, *, is_commit: bool = False) -> Iterator[None]:
    """Turn the errors of a statement into ours, which say what to do."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise build_invalid_text_error(error.object) from error
    except psycopg.Error as error:
        raise map_postgres_error(error, address, is_commit=is_commit) from error


def build_invalid_text_error(what: str) -> InvalidInput:
    """Build the error for what no database can store as text."""
    return InvalidInput(f"{what[:50]!r} cannot be stored: it is not wholly text.")


def map_postgres_error(
    error: psycopg.Error, address: PostgresAddress, *, is_commit: bool = False
) -> OldfriendError:
    """Return our error for one of a statement, or of the commit."""
    state = error.sqlstate or ""
    reason = extract_first_line(error)
    if state in DISK_FULL:
        return StoreFull(
            f"The disk of {address.display} is full. What was saved before is safe; "
            "this was not saved. Free some space and try again."
        )
    if state in CONTENTION:
        return StoreBusy(
            f"Others write the same in {address.display} ({reason}). Try again in a moment."
        )
    if (
        state in DISCONNECTED
        or state.startswith("08")
        or (not state and is_connection_error(error))
    ):
        status = MAYBE_SAVED if is_commit else "What was not finished was not saved."
        return StoreBusy(
            f"The connection to {address.display} broke ({reason}). {status} Try again in a moment."
        )
    if state in NOT_ALLOWED:
        return StoreUnusable(
            f"{address.display} does not allow that ({reason}). The user needs the right to create "
            "and "
            "change tables there, on a server that may be written."
        )
    if state in CORRUPT:
        return StoreCorrupt(f"{address.display} is not sound ({reason}). Restore a backup.")
    if state in INVALID_TEXT or (isinstance(error, psycopg.DataError) and not state):
        return InvalidInput(f"Something cannot be stored: {reason}")
    return StoreError(f"The database said: {reason}")


def is_connection_error(error: psycopg.Error) -> bool:
    """Return whether the connection failed, not a statement."""
    return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)


def map_connect_error(error: psycopg.Error, address: PostgresAddress) -> StoreError:
    """Return our error for a failed connection. libpq then gives no code, only words."""
    text = str(error).strip()
    if NO_DATABASE.search(text):
        return StoreNotFound(
            f"There is no such database at {address.display} ({extract_first_line(error)}). "
            "Make it first: createdb --encoding=UTF8 NAME"
        )
    if UNAVAILABLE.search(text):
        return StoreBusy(
            f"{address.display} takes no more connections now ({extract_first_line(error)})."
        )
    if LOGIN_REJECTED.search(text):
        return StoreUnusable(
            f"{address.display} did not let us in ({extract_first_line(error)}). Check the name "
            "and the "
            "password: in the address, in PGPASSWORD, or in ~/.pgpass."
        )
    return StoreUnusable(
        f"{address.display} cannot be reached ({extract_first_line(error)}). Is the server "
        "running, and "
        "are host and port right?"
    )


def extract_first_line(error: psycopg.Error) -> str:
    """Return the first telling line of what the server or the driver said."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if "FATAL" in line] or lines or [type(error).__name__]
    return telling[0].removeprefix("connection failed: ")[:300]
