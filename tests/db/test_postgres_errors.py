"""What a server refuses is one sentence that says what to do, and never shows a password."""

import traceback

import psycopg
import pytest

from oldfriend.db.postgres.postgres_connections import (
    map_connect_error,
    map_postgres_error,
    parse_address,
)
from oldfriend.db.postgres.postgres_database import open_postgres
from oldfriend.db.postgres.sql_dialect import to_postgres_sql
from oldfriend.domain.errors import (
    InvalidInput,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreNotFound,
    StoreUnusable,
)
from tests.postgres import Server


@pytest.fixture
def engine() -> str:
    """All of this is about PostgreSQL."""
    return "postgres"


@pytest.mark.parametrize(
    ("host", "said"),
    [
        ("127.0.0.1:1", "cannot be reached.*Is the server running"),
        ("/no/such/folder", "cannot be reached"),
    ],
)
async def test_unreachable_server_error_hides_the_password(host: str, said: str) -> None:
    """The address is shown without its password."""
    place = f"ada:s3cret@{host}/memory" if "/" not in host else f"ada:s3cret@/m?host={host}"
    with pytest.raises(StoreUnusable, match=said) as caught:
        await open_postgres(f"postgresql://{place}")

    assert "s3cret" not in f"{caught.value} {caught.value.__cause__}"


async def test_missing_database_error_suggests_createdb(postgres: Server) -> None:
    """How it is made is said too."""
    with pytest.raises(StoreNotFound, match="no such database.*createdb"):
        await open_postgres(postgres.url("nowhere"))


async def test_login_with_an_unknown_role_is_refused_with_the_reason(database_url: str) -> None:
    """Or a password that is wrong: the server's words tell which."""
    with pytest.raises(StoreUnusable, match="did not accept the login.*nobody.*pgpass"):
        await open_postgres(database_url.replace("postgres:", "nobody:"))


async def test_role_without_create_right_is_refused_naming_the_right(
    postgres: Server, new_url: str
) -> None:
    """The right that is missing is named."""
    postgres.run("CREATE ROLE guest LOGIN")
    try:
        with pytest.raises(StoreUnusable, match="does not allow that.*right to create"):
            await open_postgres(new_url.replace("postgres:", "guest:"))
    finally:
        postgres.run("DROP ROLE guest")


async def test_database_of_another_program_is_refused_untouched(
    postgres: Server, new_url: str
) -> None:
    """Nothing of ours is put beside it."""
    name = new_url.split("?")[0].rpartition("/")[2]
    postgres.run("CREATE TABLE theirs (id INT)", name)
    with pytest.raises(StoreCorrupt, match="another program.*Name another"):
        await open_postgres(new_url)

    assert postgres.run("SELECT tablename FROM pg_tables WHERE schemaname = 'public'", name) == [
        ("theirs",)
    ]


async def test_non_utf8_database_encoding_is_refused(postgres: Server) -> None:
    """It would fail at the first word that it does not know."""
    options = "ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"
    with postgres.new_database(options) as url, pytest.raises(StoreUnusable, match="LATIN1"):
        await open_postgres(url)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://h:[/db",
        "postgresql://h/db?nonsense=1",
        "postgresql://ada:s3cr/et@h/db",
        "postgresql://ada:s3cr@et@h/db",
        "postgresql://ada:s3cr?et@h/db",
        "postgresql://ada:s3cr",
        "postgresql://ada:s3cr#et@h/db",
        "postgresql://ada:s3cr%zz@h/db",
        "postgresql://h/db?password=s3cr&nonsense=1",
        "postgresql://h/db?password=s3cr@et",
    ],
)
async def test_malformed_url_error_shows_an_example_and_no_password(url: str) -> None:
    """An example shows how it is written; nothing of it is quoted, by its cause neither."""
    with pytest.raises(InvalidInput, match="postgresql://NAME@HOST:PORT/DATABASE") as caught:
        await open_postgres(url)

    told = "".join(traceback.format_exception(caught.value))
    assert "s3cr" not in told.replace(url, "")
    assert "et@h" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (
            "postgresql://ada:s3%40c%2Fret@h:1,[::1]:2/db?listen=i:3",
            "postgresql://ada@h,::1:1,2/db",
        ),
        ("postgresql:///db?host=/tmp&port=5433", "postgresql:///tmp:5433/db"),
        ("postgres://", "postgresql:///"),
    ],
)
def test_parsed_url_is_displayed_without_its_password(url: str, shown: str) -> None:
    """Escaped signs, several hosts, and what libpq puts in by itself."""
    assert parse_address(url).display == shown


@pytest.mark.parametrize(
    ("error", "ours"),
    [
        (psycopg.errors.DiskFull, StoreFull),
        (psycopg.errors.SerializationFailure, StoreBusy),
        (psycopg.errors.DeadlockDetected, StoreBusy),
        (psycopg.errors.LockNotAvailable, StoreBusy),
        (psycopg.errors.IdleInTransactionSessionTimeout, StoreBusy),
        (psycopg.errors.TooManyConnections, StoreBusy),
        (psycopg.errors.ConnectionFailure, StoreBusy),
        (psycopg.errors.ReadOnlySqlTransaction, StoreUnusable),
        (psycopg.errors.DataCorrupted, StoreCorrupt),
        (psycopg.errors.CheckViolation, StoreError),
    ],
)
def test_postgres_errors_are_mapped_to_store_errors(
    error: type[psycopg.Error], ours: type[StoreError]
) -> None:
    """Those that cannot be brought about here are shown by their codes."""
    found = map_postgres_error(error("what it said"), parse_address("postgresql://h/db"))

    assert type(found) is ours
    assert "what it said" in str(found) or ours is StoreFull


def test_full_or_starting_server_is_mapped_to_store_busy() -> None:
    """Trying again later is right then."""
    for said in (
        "FATAL: sorry, too many clients already",
        "FATAL: the database system is starting up",
    ):
        error = psycopg.OperationalError(said)
        found = map_connect_error(error, parse_address("postgresql://h/db"))
        assert type(found) is StoreBusy


def test_sql_parameters_and_locks_are_translated_to_postgres_syntax() -> None:
    """Parameters, and what looks like one, and locks."""
    sql = (
        "SELECT ':a', \"b:c\", '50%', x::text, :a, :b FROM t WHERE y % 2 = 0 FOR UPDATE SKIP LOCKED"
    )

    assert to_postgres_sql(sql, {"a": 1, "b": None}) == (
        b"SELECT ':a', \"b:c\", '50%%', x::text, %(a)s, NULL FROM t WHERE y %% 2 = 0 "
        b"FOR NO KEY UPDATE SKIP LOCKED"
    )
