"""Whoever looks after the house is told how it does: alive, ready, and in numbers."""

import asyncio
import http.client
import json
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette

from oldfriend.app.accepting import open_line
from oldfriend.app.house import House
from oldfriend.app.running.door import Door, listen
from oldfriend.app.running.supervisor import Supervisor, Work
from oldfriend.db.database import Transaction
from oldfriend.domain.errors import CannotServe, StoreUnusable
from oldfriend.ledger.calls import Asker, record_call
from oldfriend.memory.receipts import Receipt, write_receipt
from oldfriend.queues.lanes import put
from tests.clock import FrozenClock
from tests.ledger.conftest import call_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What came back from the door."""

    status: int
    text: str
    kind: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """A house with its door open."""

    supervisor: Supervisor
    port: int

    async def get(self, path: str, *, host: str | None = None) -> Answered:
        """Ask at the door, by a name of this machine or another."""
        return await asyncio.to_thread(self._get, path, host)

    def _get(self, path: str, host: str | None) -> Answered:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request("GET", path, headers={} if host is None else {"Host": host})
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return Answered(
            status=response.status, text=text, kind=response.headers.get("content-type")
        )


async def idle(house: House, stopping: asyncio.Event) -> None:
    """Do nothing until told to stop."""
    await stopping.wait()


async def crash(house: House, stopping: asyncio.Event) -> None:
    """Crash at once."""
    raise ZeroDivisionError


@asynccontextmanager
async def opened_door(house: House, work: Work = idle) -> AsyncIterator[Open]:
    """Run a supervisor with its door."""
    supervisor = Supervisor(
        house, {"worker": work}, read_again=lambda: house.settings, pause=lambda _: 0.0
    )
    with listen("127.0.0.1", 0) as listening:
        door = Door(supervisor=supervisor, listening=listening, site=Starlette())
        async with asyncio.TaskGroup() as group:
            group.create_task(supervisor.run(door=door.stay_open))
            yield Open(supervisor=supervisor, port=listening.getsockname()[1])
            supervisor.stop()


async def test_it_is_alive_and_ready(house: House) -> None:
    """Any monitor understands the status; a person the rest."""
    async with opened_door(house) as door:
        health, ready = await door.get("/health"), await door.get("/ready")

    assert (health.status, json.loads(health.text)) == (200, {"alive": True})
    assert (ready.status, json.loads(ready.text)) == (200, {"ready": True, "why": []})


async def test_while_the_worker_is_down_it_is_alive_and_not_ready(house: House) -> None:
    """And says why."""
    async with opened_door(house, crash) as door:
        part = door.supervisor.parts["worker"]
        async with asyncio.timeout(10):
            while not part.has_given_up:  # noqa: ASYNC110 - nothing rings
                await asyncio.sleep(0.001)
        health, ready = await door.get("/health"), await door.get("/ready")

    assert health.status == 200
    assert ready.status == 503
    (why,) = json.loads(ready.text)["why"]
    assert "worker crashed more than 5 times" in why


class Unplugged:
    """What is left of a database whose disk was pulled out."""

    def reading(self) -> AbstractAsyncContextManager[Transaction]:
        """Fail, as the disk does."""
        raise StoreUnusable("The disk is gone.")


async def test_without_its_database_it_is_not_ready(house: House) -> None:
    """Numbers cannot be had then, either; and nothing is made up."""
    async with opened_door(replace(house, db=Unplugged())) as door:
        ready, metrics = await door.get("/ready"), await door.get("/metrics")

    assert ready.status == 503
    assert json.loads(ready.text) == {"ready": False, "why": ["The disk is gone."]}
    assert metrics.status == 503


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""])
async def test_under_a_foreign_name_nothing_is_told(house: House, host: str) -> None:
    """A page in a browser may have its own name point to this machine."""
    async with opened_door(house) as door:
        answers = [await door.get(path, host=host) for path in ("/health", "/ready", "/metrics")]

    assert {each.status for each in answers} == {400}


@pytest.mark.parametrize("host", ["localhost", "localhost:8344", "127.0.0.1:1", "[::1]:8344"])
async def test_under_every_name_of_this_machine_it_answers(house: House, host: str) -> None:
    """Through whatever port was passed on."""
    async with opened_door(house) as door:
        assert (await door.get("/health", host=host)).status == 200


async def test_only_what_there_is_is_answered(house: House) -> None:
    """There is no page that changes anything."""
    async with opened_door(house) as door:
        assert (await door.get("/stop")).status == 404
        assert (await door.get("/")).status == 404
        assert (await door.get("/health/")).status == 404


async def live(house: House, clock: FrozenClock) -> None:
    """A call that was paid, one that failed, one without a price, a reply; letters."""
    line = await open_line(house, person="Nora Nobody", channel="terminal")
    asker = Asker(person=line.person.id)
    async with house.db.writing() as tx:
        for call in (
            call_of(cost=250_000), call_of(cost=None, text="dear Nora"), call_of(outcome="failed"),
        ):  # fmt: skip
            await record_call(tx, asker, call, step=0, request="hash", now=clock())
        receipt_id = f"{'f' * 8}-ffff-7000-8000-000000000000"
        await write_receipt(
            tx,
            Receipt(
                id=receipt_id, person=line.person.id, turn=receipt_id, asked="m1",
                asked_seq=1, replied="m2", made_at=clock(), details={}, items=(),
            ),
        )  # fmt: skip
        for lane in ("a", "b"):
            await put(tx, "inbox", lane, {"text": "secret"}, person=line.person.id, now=clock())
    clock.tick(seconds=90)


async def test_everything_is_counted_and_nobody_named(house: House, clock: FrozenClock) -> None:
    """As Prometheus reads it."""
    await live(house, clock)
    async with opened_door(house) as door:
        clock.tick(seconds=30)
        answered = await door.get("/metrics")
    samples = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(answered.text)
        for sample in family.samples
    }

    assert answered.kind is not None
    assert answered.kind.startswith("text/plain; version=0.0.4")
    expected = {
        ("oldfriend_letters", "inbox", "waiting"): 2,
        ("oldfriend_letters", "inbox", "parked"): 0,
        ("oldfriend_letters", "agenda", "later"): 0,
        ("oldfriend_lanes_held", "inbox"): 0,
        ("oldfriend_oldest_waiting_seconds", "inbox"): 120,
        ("oldfriend_oldest_waiting_seconds", "outbox"): 0,
        ("oldfriend_model_calls_total", "done"): 2,
        ("oldfriend_model_calls_total", "failed"): 1,
        ("oldfriend_model_tokens_total", "in"): 200,
        ("oldfriend_model_tokens_total", "cached"): 80,
        ("oldfriend_model_tokens_total", "out"): 20,
        ("oldfriend_model_cost_dollars_total",): 0.25,
        ("oldfriend_model_calls_unpriced_total",): 1,
        ("oldfriend_turns_total",): 1,
        ("oldfriend_uptime_seconds",): 30,
    }
    assert expected.items() <= samples.items()
    assert samples["process_resident_memory_bytes",] > 1_000_000
    for word in ("Nora", "Nobody", "secret", "terminal"):
        assert word not in answered.text


async def test_counts_of_the_day_begin_anew_at_midnight(house: House, clock: FrozenClock) -> None:
    """By the clocks of this machine's zone."""
    await live(house, clock)
    clock.tick(minutes=24 * 60)
    async with opened_door(house) as door:
        text = (await door.get("/metrics")).text

    assert "oldfriend_model_cost_dollars_total 0.0" in text
    assert 'oldfriend_letters{queue="inbox",state="waiting"} 2.0' in text


def test_an_address_that_is_taken_is_told() -> None:
    """With what to do about it."""
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CannotServe, match=rf"127.0.0.1 port {port}.*serve.port"):
            listen("127.0.0.1", port)
