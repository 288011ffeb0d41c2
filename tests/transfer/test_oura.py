"""Oura: consent, tokens that can be used once, and one reading a day (ACCEPTANCE K3, K7)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from urllib.parse import parse_qs, urlsplit

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.domain.clock import DAY, from_micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.forgetting.delete import forget
from oldfriend.inbound.accept import ChatContext
from oldfriend.measurements.measurement_store import (
    delete_measurement,
    list_kept_measures,
    list_measurements,
)
from oldfriend.measurements.oura_store import OuraConnection, find_connection
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.queues.scheduled_jobs import list_due_times
from oldfriend.transfer import oura_pull
from oldfriend.transfer.oura_client import OuraApplication, OuraRefused
from oldfriend.transfer.oura_connection import (
    TokenFile,
    get_fresh_tokens,
    get_token_file,
    store_application,
)
from oldfriend.transfer.oura_pull import (
    OURA_JOB,
    begin_consent,
    disconnect,
    finish_consent,
    get_oura_partition,
    read_oura,
)
from oldfriend.web.web_access import WebClient
from tests.clock import FrozenClock
from tests.fakes.oura import APPLICATION, Oura
from tests.fakes.web_sites import WebSites, web_sites

pytestmark = pytest.mark.usefixtures("settings_folder")
REDIRECT = "http://localhost:8765/settings/health"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ring:
    """A program, its person, and the service."""

    app: AppContext
    chat_context: ChatContext
    oura: Oura
    web: WebSites
    clock: FrozenClock

    async def connect(self, code: str = "code-1") -> None:
        """Agree, and come back."""
        address = await begin_consent(
            self.app.db,
            self.app.clock,
            self.app.settings,
            self.chat_context.person.id,
            redirect=REDIRECT,
        )
        query = parse_qs(urlsplit(address).query)
        assert (query["client_id"], query["redirect_uri"]) == (["app-id"], [REDIRECT])
        await finish_consent(
            self.app,
            self.app.web.fetcher,
            self.chat_context.person.id,
            code=code,
            state=query["state"][0],
        )

    async def read(self) -> None:
        """Read as the job does."""
        await read_oura(self.app, self.chat_context.person.id)

    async def find(self) -> OuraConnection | None:
        """The connection as it is stored."""
        async with self.app.db.begin_read() as tx:
            return await find_connection(tx, self.chat_context.person.id)

    async def values(self, name: str) -> list[tuple[str, float, str]]:
        """The values of a measure."""
        async with self.app.db.begin_read() as tx:
            found = await list_measurements(tx, self.chat_context.person.id, name)
        return [(f"{each.day}", each.value, each.unit) for each in found]

    @property
    def file(self) -> TokenFile:
        """The tokens on disk."""
        return get_token_file(self.app.settings, self.chat_context.person.id)


@asynccontextmanager
async def opened_ring(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, oura: Oura
) -> AsyncIterator[Ring]:
    """The service, and an application that is registered there."""
    async with web_sites(oura.sites) as web:
        online = replace(app, web=WebClient(fetcher=web.fetcher()))
        store_application(
            online.settings, OuraApplication(id=APPLICATION[0], secret=APPLICATION[1])
        )
        yield Ring(app=online, chat_context=chat_context, oura=oura, web=web, clock=clock)


def build_items(*days: str) -> dict[str, list[dict[str, object]]]:
    """What a ring has measured on some days."""
    return {
        "daily_sleep": [{"day": day, "score": 80} for day in days],
        "daily_readiness": [{"day": day, "score": 75} for day in days],
        "daily_activity": [
            {"day": day, "steps": 9000, "score": 88, "active_calories": 410} for day in days
        ],
        "sleep": [
            item
            for day in days
            for item in (
                {"day": day, "type": "late_nap", "total_sleep_duration": 1200},
                {
                    "day": day,
                    "type": "long_sleep",
                    "total_sleep_duration": 27_000,
                    "average_hrv": 52,
                    "lowest_heart_rate": 49,
                },
                {"day": "not a day", "type": "long_sleep", "total_sleep_duration": None},
            )
        ],
    }


def list_days(clock: FrozenClock, count: int) -> list[str]:
    """The last days, oldest first."""
    return [f"{from_micros(clock() - back * DAY).date()}" for back in reversed(range(count))]


async def test_days_are_read_page_by_page_once_a_day_and_each_value_once(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """The night, not the nap; what is odd is left out, and what was corrected replaces itself."""
    days = list_days(clock, 5)
    oura = Oura(items=build_items(*days))
    async with opened_ring(app, chat_context, clock, oura) as ring:
        await ring.connect()
        await ring.read()
        first = await ring.values("sleep")
        oura.items["daily_sleep"][-1]["score"] = 90
        clock.tick(minutes=24 * 60)
        await ring.read()
        async with app.db.begin_read() as tx:
            kept = {
                name: count
                for name, count, _ in await list_kept_measures(tx, chat_context.person.id)
            }
            due = await list_due_times(
                tx, OURA_JOB, partition=get_oura_partition(chat_context.person.id)
            )
        scores = await ring.values("sleep_score")
        connection = await ring.find()

    assert first == [(day, 7.5, "h") for day in days]
    assert kept == dict.fromkeys(
        (
            "sleep",
            "steps",
            "hrv",
            "resting_heart_rate",
            "sleep_score",
            "readiness",
            "activity_score",
            "active_calories",
        ),
        5,
    )
    assert [value for _, value, _ in scores] == [80, 80, 80, 80, 90]
    assert clock() + DAY in due
    assert connection is not None
    assert (connection.status, connection.read_at, connection.error) == ("connected", clock(), None)


async def test_refresh_token_is_sent_once_and_the_new_one_is_on_disk_before_anything_else(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """A reading that fails right behind the renewal has lost nothing."""
    async with opened_ring(app, chat_context, clock, Oura()) as ring:
        await ring.connect()
        clock.tick(minutes=20 * 60)
        ring.oura.is_down = True
        await ring.read()
        failed = await ring.find()
        on_disk = ring.file.load()
        ring.oura.is_down = False
        clock.tick(minutes=20 * 60)
        await ring.read()
        connection = await ring.find()

    assert failed is not None
    assert (failed.status, failed.read_at) == ("connected", None)
    assert failed.error is not None
    assert on_disk is not None
    assert (on_disk.refresh, on_disk.access) == ("refresh-2", "access-2")
    assert ring.oura.trades == ["refresh-1", "refresh-2"]
    assert connection is not None
    assert (connection.status, connection.error) == ("connected", None)
    assert ring.file.path.stat().st_mode & 0o077 == 0
    assert not ring.file.path.is_relative_to(app.settings.data)


async def test_whoever_is_stopped_amid_a_renewal_keeps_the_new_token(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """The service has spent the old one already."""
    asked, answers = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        asked.set()
        await answers.wait()

    async with opened_ring(app, chat_context, clock, Oura()) as ring:
        await ring.connect()
        clock.tick(minutes=20 * 60)
        ring.oura.before_tokens = wait
        async with asyncio.TaskGroup() as group:
            reading = group.create_task(ring.read())
            await asked.wait()
            reading.cancel()
            await asyncio.sleep(0.05)
            answers.set()
        tokens = ring.file.load()
        await ring.read()
        connection = await ring.find()

    assert reading.cancelled()
    assert tokens is not None
    assert tokens.refresh == "refresh-2"
    assert connection is not None
    assert connection.status == "connected"
    assert ring.oura.trades == ["refresh-1"]


async def test_lost_answer_costs_nothing_while_the_access_token_lasts(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Then the person is told that they must agree again, and nothing is asked any more."""
    async with opened_ring(app, chat_context, clock, Oura(items=build_items())) as ring:
        await ring.connect()
        file, application = ring.file, OuraApplication(id=APPLICATION[0], secret=APPLICATION[1])
        ring.oura.refresh = "refresh-nobody-has"
        clock.tick(minutes=20 * 60)
        still = await get_fresh_tokens(ring.app.web.fetcher, application, file, now=clock())
        clock.tick(minutes=5 * 60)
        with pytest.raises(OuraRefused):
            await get_fresh_tokens(ring.app.web.fetcher, application, file, now=clock())
        await ring.read()
        refused = await ring.find()
        ring.oura.codes = {"code-2"}
        await ring.connect("code-2")
        await ring.read()
        again = await ring.find()

    assert still is not None
    assert still.access == "access-1"
    assert refused is not None
    assert refused.status == "refused"
    assert again is not None
    assert (again.status, again.error) == ("connected", None)


async def test_answer_of_another_consent_or_a_late_one_is_refused(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """And each is taken once; without an application nothing is asked."""
    with pytest.raises(InvalidInput):
        await begin_consent(
            app.db, app.clock, app.settings, chat_context.person.id, redirect=REDIRECT
        )
    async with opened_ring(app, chat_context, clock, Oura()) as ring:
        fetcher, person = ring.app.web.fetcher, chat_context.person.id
        with pytest.raises(InvalidInput):
            await finish_consent(ring.app, fetcher, person, code="code-1", state="guessed")
        address = await begin_consent(app.db, app.clock, app.settings, person, redirect=REDIRECT)
        state = parse_qs(urlsplit(address).query)["state"][0]
        with pytest.raises(InvalidInput):
            await finish_consent(ring.app, fetcher, person, code="code-1", state=f"{state}x")
        clock.tick(minutes=2 * 60)
        with pytest.raises(InvalidInput):
            await finish_consent(ring.app, fetcher, person, code="code-1", state=state)
        assert ring.web.requests == []
        await ring.connect()
        with pytest.raises(InvalidInput):
            await finish_consent(ring.app, fetcher, person, code="code-1", state=state)


async def test_crash_while_disconnecting_leaves_no_tokens(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor those that a process was writing when it died; the connection says what is missing."""

    async def crash(*_: object) -> bool:
        raise KeyboardInterrupt

    async with opened_ring(app, chat_context, clock, Oura()) as ring:
        await ring.connect()
        half = ring.file.path.with_name(f".{ring.file.path.name}.4711")
        half.write_text(ring.file.path.read_text("utf-8"), "utf-8")
        monkeypatch.setattr(oura_pull, "end_connection", crash)
        with pytest.raises(KeyboardInterrupt):
            await disconnect(ring.app, chat_context.person.id)
        assert [*ring.file.path.parent.glob(f"*{chat_context.person.id}*")] == []
        await ring.read()
        connection = await ring.find()

    assert connection is not None
    assert (connection.status, "not on this machine" in str(connection.error)) == ("refused", True)


async def test_disconnected_ring_is_not_read_and_its_tokens_are_gone(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """What was read stays; a job that was planned finds nothing to do."""
    oura = Oura(items=build_items(*list_days(clock, 2)))
    async with opened_ring(app, chat_context, clock, oura) as ring:
        await ring.connect()
        await ring.read()
        asked = len(ring.web.requests)
        assert await disconnect(ring.app, chat_context.person.id)
        assert not await disconnect(ring.app, chat_context.person.id)
        clock.tick(minutes=24 * 60)
        await ring.read()
        async with app.db.begin_read() as tx:
            due = await list_due_times(
                tx, OURA_JOB, partition=get_oura_partition(chat_context.person.id)
            )

        assert len(ring.web.requests) == asked
        assert ring.file.load() is None
        assert due == []
        assert len(await ring.values("sleep")) == 2


async def test_forgetting_everything_ends_the_connection(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Row, job and tokens go, also of a reading that is under way; nothing is read again."""
    oura = Oura(items=build_items(*list_days(clock, 2)))
    asked, answers = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        asked.set()
        await answers.wait()

    async with opened_ring(app, chat_context, clock, oura) as ring:
        await ring.connect()
        await ring.read()
        clock.tick(minutes=20 * 60)
        ring.oura.before_tokens = wait
        async with asyncio.TaskGroup() as group:
            group.create_task(ring.read())
            await asked.wait()
            report = await forget(
                ring.app, chat_context.person.id, DeletionRequest(everything=True)
            )
            is_file_gone = ring.file.load() is None
            answers.set()
        async with app.db.begin_read() as tx:
            due = await list_due_times(
                tx, OURA_JOB, partition=get_oura_partition(chat_context.person.id)
            )

        assert report.is_proved
        assert is_file_gone
        assert await ring.find() is None
        assert ring.file.load() is None
        assert due == []
        assert await ring.values("sleep") == []


async def test_deleted_value_does_not_come_back_with_the_next_reading(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Neither with the days that are read again, nor with all of a new connection."""
    days = list_days(clock, 3)
    async with opened_ring(app, chat_context, clock, Oura(items=build_items(*days))) as ring:
        await ring.connect()
        await ring.read()
        async with app.db.begin_write() as tx:
            *_, last = await list_measurements(tx, chat_context.person.id, "sleep")
            assert await delete_measurement(tx, chat_context.person.id, last.id, now=clock())
        await ring.read()
        again = await ring.values("sleep")
        await disconnect(ring.app, chat_context.person.id)
        ring.oura.codes = {"code-2"}
        await ring.connect("code-2")
        await ring.read()

        assert [day for day, _, _ in again] == days[:2]
        assert [day for day, _, _ in await ring.values("sleep")] == days[:2]
        assert [day for day, _, _ in await ring.values("steps")] == days


async def test_forgotten_value_does_not_come_back_with_the_next_reading(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """As one that was deleted."""
    days = list_days(clock, 3)
    async with opened_ring(app, chat_context, clock, Oura(items=build_items(*days))) as ring:
        await ring.connect()
        await ring.read()
        async with app.db.begin_read() as tx:
            *_, last = await list_measurements(tx, chat_context.person.id, "sleep")
        report = await forget(app, chat_context.person.id, DeletionRequest(ids=(last.id,)))
        await ring.read()

        assert report.counts["measurements"] == 1
        assert [day for day, _, _ in await ring.values("sleep")] == days[:2]
