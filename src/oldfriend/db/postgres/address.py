"""PostgreSQL address: parsed from a URL, and displayed without its password.

``postgresql://NAME@HOST:PORT/DATABASE``, as libpq reads it, with all its parameters. One parameter
is ours: ``listen=HOST:PORT`` is where to listen for notifications if the address itself is a
PgBouncer, which cannot pass them on.
"""

import re
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl, urlencode

from psycopg import Error
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from oldfriend.domain.errors import InvalidInput
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
            " In names and passwords, and in what stands after ?, write @ as %40, / as %2F, "
            "? as %3F, # as %23 and % as %25."
        )
    hosts = host_part.partition("/")[0].partition("?")[0]
    ports = [host.rpartition("]")[2].partition(":")[2] for host in hosts.split(",")]
    if not all(port == "" or PORT_PATTERN.fullmatch(port) for port in ports):
        raise build_address_error(" The port is no number.")


def build_address_error(hint: str) -> InvalidInput:
    """Build the error for a URL that cannot be parsed."""
    return InvalidInput(
        f"This address of a database cannot be read.{hint} Use postgresql://NAME@HOST:PORT/DATABASE"
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
