"""A program that is connected to a Telegram of the test, and what its people see and it keeps."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from tests.cli.serving import Running, on_any_port, served
from tests.fakes.telegram import World
from tests.processes import Program, until

SHOWN_CODE = re.compile(r"(\d{3}) (\d{3})  \(valid once, for ten minutes\)")


@dataclass(frozen=True, slots=True)
class Home:
    """A program with the token of a bot."""

    program: Program
    world: World

    def code_for(self, *options: str) -> str:
        """A new code, as it is shown in the terminal."""
        shown = self.program.done("connect", "telegram", "--no-test", *options).stdout
        found = SHOWN_CODE.search(shown)
        assert found, shown
        return found[1] + found[2]

    def pair(self, user: int, *options: str) -> None:
        """Have a user show a code to the companion that is served."""
        self.world.says(user, self.code_for(*options))
        self.sees(user, "Now I know who you are")

    def sees(self, chat: int, words: str, *, seconds: float = 30.0) -> str:
        """Wait until something was said in a chat; the whole message."""
        world = self.world
        world.wait(lambda: any(words in text for text in world.texts(chat)), seconds=seconds)
        found = [text for text in world.texts(chat) if words in text]
        assert found, (words, world.texts(chat))
        return found[-1]

    def rows(self, sql: str) -> list[Any]:
        """What stands in its database."""
        path = self.program.data / "oldfriend.db"
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            return database.execute(sql).fetchall()

    def comes_to_hold(self, sql: str, *, within_s: float = 20.0) -> list[Any]:
        """Wait until something stands in its database; that."""
        until(lambda: bool(self.rows(sql)), within_s=within_s)
        return self.rows(sql)


def home_on(program: Program, world: World, **variables: str) -> Home:
    """A program that is connected to this Telegram, and answers quickly."""
    connected = {
        "OLDFRIEND_TELEGRAM_TOKEN": world.token,
        "OLDFRIEND_TELEGRAM_BASE_URL": world.url,
        "OLDFRIEND_TELEGRAM_QUIET_S": "0.3",
        "OLDFRIEND_LIMITS_MESSAGES_PER_MINUTE": "0",
    }
    return Home(on_any_port(program, **{**connected, **variables}), world)


@contextmanager
def listening(home: Home) -> Iterator[Running]:
    """Serve, until it listens on Telegram."""
    with served(home.program) as running:
        until(lambda: home.world.poller > 0)
        yield running
