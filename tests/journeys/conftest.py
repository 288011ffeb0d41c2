"""What holds at the end of every journey: what is believed is what was decided."""

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from tests.processes import Program


@pytest.fixture(autouse=True)
def ends_as_it_was_decided(tmp_path: Path) -> Iterator[None]:
    """Whatever happened to a data folder, its journal alone makes the same beliefs."""
    yield
    for database in tmp_path.rglob("oldfriend.db"):
        assert_as_decided(database.parent)


def assert_as_decided(data: Path) -> None:
    """Have everybody's beliefs in a data folder checked by the program itself."""
    with apsw.Connection(str(data / "oldfriend.db")) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM person")]
    connection.close()
    for name in names:
        checked = Program(data=data)("rebuild", "--check", "--person", name)
        assert checked.code == 0, checked
