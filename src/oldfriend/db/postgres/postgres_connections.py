"""PostgreSQL connections: their address, a pool of them, and errors of psycopg mapped to ours.

``postgresql://NAME@HOST:PORT/DATABASE``, as libpq reads it, with all its parameters. One parameter
is ours: ``listen=HOST:PORT`` is where to listen for notifications if the address itself is a
PgBouncer, which cannot pass them on.

A connection may have died while it was idle: this shows when a transaction is begun on it, when
nothing is lost yet, and another connection is used. So neither a server restart nor a firewall is
noticed by callers, and no connection is ever pinged.
"""

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

import psycopg
from psycopg import Error
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import tuple_row

from oldfriend.db.database import Row
from oldfriend.db.postgres.sql_dialect import register_adapters
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
from oldfriend.domain.unicode_text import is_ascii_number

PORT_PATTERN: Final = re.compile("[0-9]{1,5}")
DEFAULT_PARAMETERS: Final = {
    "connect_timeout": "10",
    "application_name": "oldfriend",
    "client_encoding": "UTF8",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
}
"""Added where the URL does not set them: a dead server is noticed within a minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresAddress:
    """The connection strings of a server, for libpq."""

    main_conninfo: str = field(repr=False)
    listen_conninfo: str = field(repr=False)
    display: str  # for people: without the password


def parse_address(url: str) -> PostgresAddress:
    """Parse a URL. Raises InvalidInput, which quotes nothing of it."""
    check_url_escaping(url)
    try:
        base_url, _, query = url.partition("?")
        parameters = parse_qsl(query, keep_blank_values=True)
        listen = dict(parameters).get("listen", "")
        others = urlencode([(name, value) for name, value in parameters if name != "listen"])
        main_parameters = conninfo_to_dict(f"{base_url}?{others}" if others else base_url)
        main = {
            **DEFAULT_PARAMETERS,
            **{name: str(value) for name, value in main_parameters.items()},
        }
        listening = {**main, **parse_host_port(listen)} if listen else main
        return PostgresAddress(
            main_conninfo=make_conninfo(**main),
            listen_conninfo=make_conninfo(**listening),
            display=format_without_password(main),
        )
    except (Error, ValueError):  # not the cause either: it quotes what it could not parse
        raise build_address_error("") from None


def check_url_escaping(url: str) -> None:
    """Raise InvalidInput if a part of a password would be taken for a host, port or name."""
    location = url.partition("://")[2]
    credentials, _, host_part = location.rpartition("@")
    if any(sign in credentials for sign in "@/?#"):
        raise build_address_error(
            " In names and passwords, and after the ?, write @ as %40, / as %2F, ? as %3F, # as "
            "%23 and % as %25."
        )
    hosts = host_part.partition("/")[0].partition("?")[0]
    ports = [host.rpartition("]")[2].partition(":")[2] for host in hosts.split(",")]
    if not all(port == "" or PORT_PATTERN.fullmatch(port) for port in ports):
        raise build_address_error(" The port is not a number.")


def build_address_error(hint: str) -> InvalidInput:
    """Build the error for a URL that cannot be parsed."""
    return InvalidInput(
        f"This database address cannot be read.{hint} Use postgresql://NAME@HOST:PORT/DATABASE"
    )


def parse_host_port(listen: str) -> dict[str, str]:
    """Parse the host and port to listen on: HOST:PORT, HOST, or the folder of a socket."""
    host, colon, port = listen.rpartition(":")
    if not colon or not is_ascii_number(port):
        host, port = listen, "5432"
    return {"host": host.strip("[]"), "port": port}


def format_without_password(parameters: dict[str, str]) -> str:
    """Return an address without its password, for display."""
    name = f"{parameters['user']}@" if "user" in parameters else ""
    host = parameters.get("host") or parameters.get("hostaddr") or ""
    port = f":{parameters['port']}" if "port" in parameters else ""
    return f"postgresql://{name}{host}{port}/{parameters.get('dbname', '')}"


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
    "It may have been saved all the same. Check first: in a chat with /history, otherwise with "
    "the command that lists it."
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
    return InvalidInput(f"{what[:50]!r} cannot be stored: it is not valid text.")


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
            f"Another process is writing the same data in {address.display} ({reason}). Try again "
            "in a moment."
        )
    if (
        state in DISCONNECTED
        or state.startswith("08")
        or (not state and is_connection_error(error))
    ):
        status = MAYBE_SAVED if is_commit else "What was unfinished was not saved."
        return StoreBusy(
            f"The connection to {address.display} was lost ({reason}). {status} Try again in a "
            "moment."
        )
    if state in NOT_ALLOWED:
        return StoreUnusable(
            f"{address.display} does not allow that ({reason}). The user needs the right to "
            "create and change tables there, and the server must not be read-only."
        )
    if state in CORRUPT:
        return StoreCorrupt(f"{address.display} is damaged ({reason}). Restore a backup.")
    if state in INVALID_TEXT or (isinstance(error, psycopg.DataError) and not state):
        return InvalidInput(f"Something cannot be stored: {reason}")
    return StoreError(f"The database reported: {reason}")


def is_connection_error(error: psycopg.Error) -> bool:
    """Return whether the connection failed, not a statement."""
    return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)


def map_connect_error(error: psycopg.Error, address: PostgresAddress) -> StoreError:
    """Return our error for a failed connection. libpq then gives no code, only words."""
    text = str(error).strip()
    if NO_DATABASE.search(text):
        return StoreNotFound(
            f"There is no such database at {address.display} ({extract_first_line(error)}). "
            "Create it first: createdb --encoding=UTF8 NAME"
        )
    if UNAVAILABLE.search(text):
        return StoreBusy(
            f"{address.display} accepts no more connections at the moment "
            f"({extract_first_line(error)})."
        )
    if LOGIN_REJECTED.search(text):
        return StoreUnusable(
            f"{address.display} did not accept the login ({extract_first_line(error)}). Check the "
            "name and the password: in the address, in PGPASSWORD, or in ~/.pgpass."
        )
    return StoreUnusable(
        f"{address.display} cannot be reached ({extract_first_line(error)}). Is the server "
        "running, and are the host and port right?"
    )


def extract_first_line(error: psycopg.Error) -> str:
    """Return the first telling line of what the server or the driver said."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if "FATAL" in line] or lines or [type(error).__name__]
    return telling[0].removeprefix("connection failed: ")[:300]


Connection = psycopg.AsyncConnection[tuple[Any, ...]]
COMMIT: Final = b"COMMIT"
ROLLBACK: Final = b"ROLLBACK"


async def connect(address: PostgresAddress, *, for_listen: bool = False) -> Connection:
    """Open a connection. Transactions are begun and ended explicitly. Raises StoreError."""
    conninfo = address.listen_conninfo if for_listen else address.main_conninfo
    try:
        connection = await psycopg.AsyncConnection.connect(
            conninfo, autocommit=True, prepare_threshold=None, row_factory=tuple_row
        )
    except psycopg.Error as error:
        raise map_connect_error(error, address) from error
    register_adapters(connection)
    return connection


class ConnectionPool:
    """A pool of connections for one kind of transaction; opened on demand, with a size limit."""

    def __init__(self, address: PostgresAddress, *, max_size: int) -> None:
        """Set the limit; no connection is opened yet."""
        self._address = address
        self._idle: list[Connection] = []
        self._slots = asyncio.Semaphore(max_size)

    async def begin(self, begin_sql: bytes) -> tuple[Connection, Row | None]:
        """Return a connection with a transaction, and the row that beginning it returned."""
        await self._slots.acquire()
        try:
            while self._idle:
                with suppress(psycopg.OperationalError):  # it died while it was idle
                    return await begin_on(self._idle.pop(), begin_sql)
            connection = await connect(self._address)
            with map_postgres_errors(self._address):
                return await begin_on(connection, begin_sql)
        except BaseException:
            self._slots.release()
            raise

    async def commit(self, connection: Connection) -> bool:
        """Commit, release the connection, and return whether everything was kept."""
        try:
            with map_postgres_errors(self._address, is_commit=True):
                return (await self._end(connection, COMMIT)) == "COMMIT"
        finally:
            self._slots.release()

    async def roll_back(self, connection: Connection) -> None:
        """Roll back; if the connection is gone, the server does it."""
        try:
            with suppress(psycopg.Error):
                await self._end(connection, ROLLBACK)
        finally:
            self._slots.release()

    async def close(self) -> None:
        """Close the idle connections."""
        while self._idle:
            await self._idle.pop().close()

    async def _end(self, connection: Connection, end_sql: bytes) -> str | None:
        try:
            cursor = await connection.execute(end_sql)
        except BaseException:
            await connection.close()
            raise
        self._idle.append(connection)
        return cursor.statusmessage


async def begin_on(connection: Connection, begin_sql: bytes) -> tuple[Connection, Row | None]:
    """Begin a transaction; the connection is closed if that fails."""
    try:
        cursor = await connection.execute(begin_sql)
        while cursor.nextset():
            pass
        return connection, await cursor.fetchone() if cursor.description else None
    except BaseException:
        await connection.close()
        raise
