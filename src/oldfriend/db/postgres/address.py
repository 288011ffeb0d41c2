"""Where is the server, and how is it spoken of without giving the password away?

``postgresql://NAME@HOST:PORT/DATABASE``, as libpq reads it, with all its parameters. Ours is
``listen=HOST:PORT``: where to listen for wake-ups, when the address itself is a PgBouncer, which
cannot pass them on.
"""

import re
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl, urlencode

from psycopg import Error
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from oldfriend.domain.errors import InvalidInput

PORT: Final = re.compile("[0-9]{1,5}")
CAREFUL: Final = {
    "connect_timeout": "10", "application_name": "oldfriend", "client_encoding": "UTF8",
    "keepalives_idle": "30", "keepalives_interval": "10", "keepalives_count": "3",
}  # fmt: skip
"""What is added where the address says nothing of it: a dead server is noticed in a minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """How the server is reached, by libpq's own words for it."""

    main: str = field(repr=False)
    listening: str = field(repr=False)
    shown: str  # for people: without the password


def address_of(url: str) -> Address:
    """The address that a URL names. Raises InvalidInput, which quotes nothing of it."""
    refuse_loose_signs(url)
    try:
        place, _, query = url.partition("?")
        asked = parse_qsl(query, keep_blank_values=True)
        listen = dict(asked).get("listen", "")
        others = urlencode([(name, value) for name, value in asked if name != "listen"])
        given = conninfo_to_dict(f"{place}?{others}" if others else place)
        main = {**CAREFUL, **{name: str(value) for name, value in given.items()}}
        listening = {**main, **place_of(listen)} if listen else main
        return Address(
            main=make_conninfo(**main), listening=make_conninfo(**listening), shown=shown(main)
        )
    except (Error, ValueError):  # not the cause either: it quotes what it could not read
        raise unreadable("") from None


def refuse_loose_signs(url: str) -> None:
    """Raise InvalidInput where a part of a password would be taken for a host, port or name."""
    place = url.partition("://")[2]
    before, _, after = place.rpartition("@")
    if any(sign in before for sign in "@/?#"):
        raise unreadable(
            " In names and passwords, and in what stands after ?, write @ as %40, / as %2F, "
            "? as %3F, # as %23 and % as %25."
        )
    hosts = after.partition("/")[0].partition("?")[0]
    ports = [host.rpartition("]")[2].partition(":")[2] for host in hosts.split(",")]
    if not all(port == "" or PORT.fullmatch(port) for port in ports):
        raise unreadable(" The port is no number.")


def unreadable(hint: str) -> InvalidInput:
    """The error for an address that cannot be read."""
    return InvalidInput(
        f"This address of a database cannot be read.{hint} Use postgresql://NAME@HOST:PORT/DATABASE"
    )


def place_of(listen: str) -> dict[str, str]:
    """The host and port to listen at, from HOST:PORT, HOST or the folder of a socket."""
    host, colon, port = listen.rpartition(":")
    if not colon or not port.isdigit():
        host, port = listen, "5432"
    return {"host": host.strip("[]"), "port": port}


def shown(given: dict[str, str]) -> str:
    """An address as it may be read by anybody."""
    name = f"{given['user']}@" if "user" in given else ""
    host = given.get("host") or given.get("hostaddr") or ""
    port = f":{given['port']}" if "port" in given else ""
    return f"postgresql://{name}{host}{port}/{given.get('dbname', '')}"
