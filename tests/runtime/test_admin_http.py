"""Whoever looks after the house is told how it does: alive, ready, and in numbers."""

import asyncio
import http.client
import json
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from oldfriend.app.app_context import AppContext
from oldfriend.db.database import Transaction
from oldfriend.db.free_disk_space import check_disk_space
from oldfriend.domain.errors import ServerProcessError, StoreUnusable
from oldfriend.inbound.accept import open_local_chat
from oldfriend.memory.receipts import Receipt, write_receipt
from oldfriend.queues.queue import enqueue
from oldfriend.runtime.admin_http import FORWARDING_HEADERS, AdminServer, HostCheck, listen
from oldfriend.runtime.supervisor import Supervisor, WorkerPart
from oldfriend.usage.model_calls import CallContext, record_call
from tests.clock import FrozenClock
from tests.usage.conftest import call_of


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


async def idle(app: AppContext, stopping: asyncio.Event) -> None:
    """Do nothing until told to stop."""
    await stopping.wait()


async def crash(app: AppContext, stopping: asyncio.Event) -> None:
    """Crash at once."""
    raise ZeroDivisionError


@asynccontextmanager
async def opened_door(app: AppContext, work: WorkerPart = idle) -> AsyncIterator[Open]:
    """Run a supervisor with its door."""
    supervisor = Supervisor(
        app, {"worker": work}, load_settings=lambda: app.settings, backoff=lambda _: 0.0
    )
    with listen("127.0.0.1", 0) as listening:
        door = AdminServer(supervisor=supervisor, listen_socket=listening, web_app=Starlette())
        async with asyncio.TaskGroup() as group:
            group.create_task(supervisor.run(admin_server=door.serve))
            yield Open(supervisor=supervisor, port=listening.getsockname()[1])
            supervisor.stop()


async def test_health_and_ready_endpoints_answer_200(app: AppContext) -> None:
    """Any monitor understands the status; a person the rest."""
    async with opened_door(app) as door:
        health, ready = await door.get("/health"), await door.get("/ready")

    assert (health.status, json.loads(health.text)) == (200, {"alive": True})
    assert (ready.status, json.loads(ready.text)) == (200, {"ready": True, "why": []})


async def test_public_address_is_encrypted_and_shows_nothing_for_the_administrator() -> None:
    """What a proxy passes on came by TLS; a third name is refused still."""

    async def tell_scheme(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse(scope["scheme"])(scope, receive, send)

    check = HostCheck(tell_scheme, ["localhost"], "friend.example:8443")
    transport = httpx.ASGITransport(check)
    async with httpx.AsyncClient(transport=transport) as client:
        public = await client.get("http://friend.example:8443/settings")
        hidden = await client.get("http://friend.example:8443/metrics")
        local = await client.get("http://localhost:8344/metrics")
        other = [
            await client.get(f"http://{host}/")
            for host in ("friend.example", "friend.example:8444", "evil.example")
        ]

    assert (public.status_code, public.text) == (200, "https")
    assert hidden.status_code == 404
    assert (local.status_code, local.text) == (200, "http")
    assert [each.status_code for each in other] == [400, 400, 400]


@pytest.mark.parametrize("header", FORWARDING_HEADERS)
async def test_administrators_pages_are_not_passed_on_by_a_proxy(header: str) -> None:
    """Not even by one that says that it asks for this machine itself."""
    check = HostCheck(PlainTextResponse("numbers"), ["localhost"], None)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(check)) as client:
        for path in ("/metrics", "/health", "/ready"):
            passed = await client.get(f"http://localhost{path}", headers={header: "192.0.2.7"})
            assert passed.status_code == 404
            assert (await client.get(f"http://localhost{path}")).text == "numbers"
        page = await client.get("http://localhost/", headers={header: "192.0.2.7"})
    assert page.text == "numbers"


@pytest.mark.parametrize(
    ("forwarded", "seen"),
    [
        ("198.51.100.7", "198.51.100.7"),
        ("10.0.0.1, 203.0.113.9", "203.0.113.9"),  # the first is the visitor's own word
        ("2001:db8::7", "2001:db8::7"),
        ("", "127.0.0.1"),
        ("unknown", "127.0.0.1"),
        ("203.0.113.9, ", "127.0.0.1"),
        ("198.51.100.7\n203.0.113.9", "203.0.113.9"),  # a proxy that adds a line of its own
    ],
)
async def test_visitors_of_the_public_address_are_told_apart(forwarded: str, seen: str) -> None:
    """By what the nearest proxy says; under other names nobody is believed."""

    async def tell_address(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse(scope["client"][0])(scope, receive, send)

    check = HostCheck(tell_address, ["localhost"], "friend.example")
    headers = [("X-Forwarded-For", each) for each in forwarded.split("\n")]
    async with httpx.AsyncClient(transport=httpx.ASGITransport(check)) as client:
        public = await client.get("http://friend.example/", headers=headers)
        local = await client.get("http://localhost/", headers=headers)
    assert (public.text, local.text) == (seen, "127.0.0.1")


async def test_server_with_a_crashed_worker_is_alive_but_not_ready(app: AppContext) -> None:
    """And says why."""
    async with opened_door(app, crash) as door:
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

    def begin_read(self) -> AbstractAsyncContextManager[Transaction]:
        """Fail, as the disk does."""
        raise StoreUnusable("The disk is gone.")


async def test_server_without_database_is_not_ready_and_has_no_metrics(app: AppContext) -> None:
    """Numbers cannot be had then, either; and nothing is made up."""
    async with opened_door(replace(app, db=Unplugged())) as door:
        ready, metrics = await door.get("/ready"), await door.get("/metrics")

    assert ready.status == 503
    assert json.loads(ready.text) == {"ready": False, "why": ["The disk is gone."]}
    assert metrics.status == 503


class ReadOnly:
    """What is left of a database that turned read-only."""

    def __init__(self, app: AppContext) -> None:
        """It can be read still."""
        self._db = app.db
        self.asked = 0

    def begin_read(self) -> AbstractAsyncContextManager[Transaction]:
        """As before."""
        return self._db.begin_read()

    async def probe_write(self) -> None:
        """Fail, as the disk does."""
        self.asked += 1
        raise StoreUnusable("It is read-only.")


async def test_server_with_read_only_database_is_not_ready_and_probes_rarely(
    app: AppContext,
) -> None:
    """However many ask, that is found out once a second at most."""
    db = ReadOnly(app)
    async with opened_door(replace(app, db=db)) as door:
        ready = [await door.get("/ready") for _ in range(5)]

    assert {each.status for each in ready} == {503}
    assert json.loads(ready[-1].text)["why"] == ["It is read-only."]
    assert db.asked <= 2


async def test_write_probe_leaves_the_database_unchanged(
    app: AppContext,
) -> None:
    """Nothing is added, however often."""
    async with app.db.begin_read() as tx:
        tables = [each.name for each in await tx.list_tables()]
        before = {name: await tx.rows(f"SELECT * FROM {name}") for name in tables}
    size = await app.db.size_bytes()
    for _ in range(50):
        await app.db.probe_write()
    async with app.db.begin_read() as tx:
        assert {name: await tx.rows(f"SELECT * FROM {name}") for name in tables} == before

    assert await app.db.size_bytes() <= size + (64 << 10)


def test_unwritable_folder_fails_the_disk_space_check() -> None:
    """Found out by writing, whoever one is."""
    with pytest.raises(StoreUnusable, match="cannot be written"):
        check_disk_space(Path("/proc/oldfriend.db"))


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""])
async def test_admin_endpoints_refuse_foreign_host_headers(app: AppContext, host: str) -> None:
    """A page in a browser may have its own name point to this machine."""
    async with opened_door(app) as door:
        answers = [await door.get(path, host=host) for path in ("/health", "/ready", "/metrics")]

    assert {each.status for each in answers} == {400}


@pytest.mark.parametrize("host", ["localhost", "localhost:8344", "127.0.0.1:1", "[::1]:8344"])
async def test_admin_endpoints_accept_every_loopback_host_header(
    app: AppContext, host: str
) -> None:
    """Through whatever port was passed on."""
    async with opened_door(app) as door:
        assert (await door.get("/health", host=host)).status == 200


async def test_unknown_admin_path_answers_404(app: AppContext) -> None:
    """There is no page that changes anything."""
    async with opened_door(app) as door:
        assert (await door.get("/stop")).status == 404
        assert (await door.get("/")).status == 404
        assert (await door.get("/health/")).status == 404


async def live(app: AppContext, clock: FrozenClock) -> None:
    """A call that was paid, one that failed, one without a price, a reply; letters."""
    chat_context = await open_local_chat(
        app.db, app.clock, app.settings, person="Nora Nobody", channel="terminal"
    )
    asker = CallContext(person=chat_context.person.id)
    async with app.db.begin_write() as tx:
        for call in (
            call_of(cost=250_000),
            call_of(cost=None, text="dear Nora"),
            call_of(outcome="failed"),
        ):
            await record_call(tx, asker, call, step=0, request_hash="hash", now=clock())
        receipt_id = f"{'f' * 8}-ffff-7000-8000-000000000000"
        await write_receipt(
            tx,
            Receipt(
                id=receipt_id,
                person=chat_context.person.id,
                turn=receipt_id,
                asked="m1",
                asked_seq=1,
                replied="m2",
                made_at=clock(),
                details={},
                items=(),
            ),
        )
        for lane in ("a", "b"):
            await enqueue(
                tx, "inbox", lane, {"text": "secret"}, person=chat_context.person.id, now=clock()
            )
    clock.tick(seconds=90)


async def test_metrics_contain_counts_but_no_names_or_texts(
    app: AppContext, clock: FrozenClock
) -> None:
    """As Prometheus reads it."""
    await live(app, clock)
    async with opened_door(app) as door:
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
        ("oldfriend_jobs", "inbox", "waiting"): 2,
        ("oldfriend_jobs", "inbox", "dead_letter"): 0,
        ("oldfriend_jobs", "agenda", "delayed"): 0,
        ("oldfriend_leased_partitions", "inbox"): 0,
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


async def test_daily_metrics_reset_at_midnight(app: AppContext, clock: FrozenClock) -> None:
    """By the clocks of this machine's zone."""
    await live(app, clock)
    clock.tick(minutes=24 * 60)
    async with opened_door(app) as door:
        text = (await door.get("/metrics")).text

    assert "oldfriend_model_cost_dollars_total 0.0" in text
    assert 'oldfriend_jobs{queue="inbox",state="waiting"} 2.0' in text


def test_occupied_port_is_reported_with_the_setting_to_change() -> None:
    """With what to do about it."""
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ServerProcessError, match=rf"127.0.0.1 port {port}.*serve.port"):
            listen("127.0.0.1", port)
