"""Where is the server, and how is it spoken of without giving the password away?

``postgresql://NAME@HOST:PORT/DATABASE``, as libpq reads it, with all its parameters. Ours is
``listen=HOST:PORT``: where to listen for wake-ups, when the address itself is a PgBouncer, which
cannot pass them on.
"""

from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from psycopg import Error
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from oldfriend.domain.errors import InvalidInput

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
    """The address that a URL names. Raises InvalidInput."""
    try:
        parts = urlsplit(url)
        asked = parse_qsl(parts.query, keep_blank_values=True)
        listen = dict(asked).get("listen", "")
        others = urlencode([(name, value) for name, value in asked if name != "listen"])
        given = conninfo_to_dict(urlunsplit(parts._replace(query=others)))
        main = {**CAREFUL, **{name: str(value) for name, value in given.items()}}
        listening = {**main, **place_of(listen)} if listen else main
        return Address(
            main=make_conninfo(**main), listening=make_conninfo(**listening), shown=shown(main)
        )
    except (Error, ValueError) as error:
        raise InvalidInput(
            f"This address of a database cannot be read ({str(error).strip()}). "
            "Use postgresql://NAME@HOST:PORT/DATABASE"
        ) from error


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
