"""A program that serves, spoken to through its API, with a model that is asked over HTTP."""

import json
import random
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from tests.cli.serving import Running, on_any_port, served
from tests.fakes.slow_model import SlowModel
from tests.processes import Program, until

SETTINGS = """[models]
main = ["slow:one"]
[limits]
messages_per_minute = 0
lease_s = {lease_s}
heartbeat_s = {heartbeat_s}
[memory]
forms = false
[providers.slow]
kind = "openai"
base_url = "{url}"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Talker:
    """Somebody who talks through the API, whichever process serves just now."""

    program: Program
    model: SlowModel
    token: str

    @contextmanager
    def served(self) -> Iterator[Running]:
        """Serve, until it is ready."""
        with served(self.program) as running:
            yield running

    def as_somebody(self, name: str) -> "Talker":
        """Somebody else at the same program."""
        self.program.done("say", "Hello there.", "--person", name, "--new-person")
        return replace(self, token=new_token(self.program, "--person", name))

    def says(self, running: Running, text: str) -> None:
        """Say something; it is taken in when this returns."""
        status, _ = self.ask(running, "POST", "/messages", {"text": text})
        assert status == 202

    def replies(self, running: Running) -> list[str]:
        """What was replied, so far."""
        status, told = self.ask(running, "GET", "/messages?limit=200")
        assert status == 200
        return [each["text"] for each in told["items"] if each["role"] == "companion"]

    def ask(self, running: Running, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Ask something of the API of the chat."""
        connection = HTTPConnection("127.0.0.1", running.port, timeout=30)
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "Idempotency-Key": f"{random.random():.16f}",
            "Host": "localhost",
        }
        sent = None if body is None else json.dumps(body)
        connection.request(method, f"/api/v1/chat{path}", body=sent, headers=headers)
        response = connection.getresponse()
        told = response.read()
        connection.close()
        return response.status, json.loads(told) if told else None

    def times_asked(self) -> Counter[str]:
        """How often the model was asked for a reply to each thing that was said."""
        return Counter(self.model.about)


def talker_on(
    program: Program, model: SlowModel, *, lease_s: float = 30.0, database: str = ""
) -> Talker:
    """A program with a model, and a token of its owner."""
    program = on_any_port(program)
    if database:
        program = replace(
            program, environment={**program.environment, "OLDFRIEND_DATABASE": database}
        )
    program.data.mkdir(parents=True, exist_ok=True)
    program.done("say", "Hello there.")  # somebody must be known who can have a token
    settings = SETTINGS.format(lease_s=lease_s, heartbeat_s=lease_s / 5, url=model.url)
    (program.data / "oldfriend.toml").write_text(settings)
    return Talker(program=program, model=model, token=new_token(program))


def new_token(program: Program, *whose: str) -> str:
    """A token with which somebody can talk."""
    made = program.done("token", "new", "test", "--scope", "write", *whose)
    return made.stdout.splitlines()[0]


def ledger_of(data: Path, columns: str = "outcome, tokens_in, tokens_out") -> list[tuple[Any, ...]]:
    """What the ledger says of calls for replies."""
    with closing(sqlite3.connect(f"file:{data}/oldfriend.db?mode=ro", uri=True)) as database:
        return database.execute(
            f"SELECT {columns} FROM model_call WHERE purpose = 'reply' ORDER BY made_at, id"
        ).fetchall()


def wait_for_replies(talker: Talker, running: Running, count: int, *, within_s: float) -> None:
    """Wait until so many replies are there."""
    until(lambda: len(talker.replies(running)) >= count, within_s=within_s)
