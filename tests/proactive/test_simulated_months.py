"""Three months of four people: what is said unasked keeps every limit, whoever dies meanwhile.

In fast time with the real store and the real agenda. Workers are killed between the decision and
the delivery; the next one takes over when the lease is over.
"""

import random
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

import pytest

from oldfriend.app.app_context import AppContext, CrashPoint
from oldfriend.domain.clock import DAY, HOUR, MINUTE, Micros, from_micros
from oldfriend.domain.ids import MemoryId, ObjectId, new_id
from oldfriend.domain.memories import Cause, StoredBelief
from oldfriend.domain.messages import Message
from oldfriend.inbound.accept import ChatContext, MessageSubmission, open_local_chat
from oldfriend.memory.evidence import NewEvidence, add_evidence
from oldfriend.memory.journal import Provenance, record_decision
from oldfriend.memory.message_log import list_messages
from oldfriend.memory.people import ensure_person, set_zone
from oldfriend.proactive.impulse_store import list_impulses
from oldfriend.proactive.look_planner import plan_next_look
from oldfriend.proactive.policy import (
    MAX_UNANSWERED_EVER,
    PACES,
    UNANSWERED_WINDOW,
    Level,
)
from oldfriend.proactive.quiet_hours import QuietHours, get_local_time
from oldfriend.queues.outbox import parse_reply_part
from oldfriend.queues.queue import list_jobs
from oldfriend.replies.reply_worker import answer_message
from tests.clock import FrozenClock
from tests.conftest import SIZE
from tests.proactive.lived_time import at, choose, list_unasked, live_until, run_due

START: Final = at("2026-09-20T12:00", "UTC")  # clocks go back in October and November
DAYS: Final = 90 if SIZE == "full" else 14
KILLED_AT: Final[tuple[CrashPoint, ...]] = ("decided", "committing", "committed")
JITTER: Final = 5 * MINUTE
MOMENT_S: Final = 0.000_001
"""A lease that is over at once: leases are timed by the machine, which lives no faster."""


class Killed(BaseException):
    """The end of a process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """How one of the four lives."""

    name: str
    zone: str
    level: Level
    quiet: QuietHours
    answers: bool  # whether they ever speak again after the first day
    writes_every: int = 3  # days


LIVES: Final = (
    Life(
        name="Nora",
        zone="Europe/Lisbon",
        level="normal",
        quiet=QuietHours(begins=22 * 60, ends=8 * 60),
        answers=True,
    ),
    Life(
        name="Omar",
        zone="America/New_York",
        level="lively",
        quiet=QuietHours(begins=23 * 60 + 30, ends=7 * 60),
        answers=True,
        writes_every=1,
    ),
    Life(
        name="Priya",
        zone="Asia/Kathmandu",
        level="shy",
        quiet=QuietHours(begins=13 * 60, ends=15 * 60),  # she sleeps at noon
        answers=True,
        writes_every=5,
    ),
    Life(
        name="Sam",
        zone="Australia/Lord_Howe",  # clocks change by half an hour
        level="lively",
        quiet=QuietHours(begins=1 * 60, ends=1 * 60 + 59),
        answers=False,
    ),
)


@dataclass
class Reaper:
    """Kills whoever comes by one of the points, now and then."""

    luck: random.Random
    killed: int = 0

    def __call__(self, step: CrashPoint) -> None:
        """Perhaps end it here."""
        if step in KILLED_AT and self.luck.random() < 0.15:
            self.killed += 1
            raise Killed


async def move_in(app: AppContext, life: Life) -> ChatContext:
    """Open the chat of somebody on a phone, with their choices."""
    async with app.db.begin_write() as tx:
        person = await ensure_person(tx, life.name, now=app.clock(), zone=life.zone)
        await set_zone(tx, person.id, life.zone, is_said=True)
    chat_context = await open_local_chat(
        app.db, app.clock, app.settings, person=life.name, channel="phone"
    )
    await choose(app, chat_context, level=life.level, quiet=life.quiet)
    return chat_context


async def believe(
    app: AppContext, chat_context: ChatContext, said: Message, kind: str, due_at: Micros, zone: str
) -> None:
    """Have it believed that something is promised or expected, from a message."""
    now = app.clock()
    memory = StoredBelief(
        id=MemoryId(ObjectId(new_id(now))),
        person=chat_context.person.id,
        kind=kind,
        text=said.text,
        language="en",
        due_at=due_at,
        zone=zone,
        learned_at=now,
    )
    async with app.db.begin_write() as tx:
        cause = Cause(message=said.id, version=said.version)
        ground = Provenance(author="rules/1", causes=(cause,))
        await record_decision(tx, memory, op="learned", base=0, provenance=ground, now=now)
        words = [NewEvidence(source=said, quote=said.text)]
        await add_evidence(
            tx, chat_context.person.id, memory.id, words, extractor="rules/1", now=now
        )
        await plan_next_look(tx, chat_context.person.id, now=now)


async def speak(
    app: AppContext, chat_context: ChatContext, life: Life, luck: random.Random
) -> None:
    """Say something, from which something to come is known."""
    text = f"There is something ahead, number {luck.randrange(10_000)}."
    said = (await answer_message(app, chat_context, MessageSubmission(text=text))).message
    for _ in range(luck.randrange(3)):
        kind = luck.choice(["commitment", "expectation"])
        days = luck.randrange(1, 6)
        due_at = get_local_time(app.clock(), life.zone, days=days, hour=23, minute=59)
        if luck.random() < 0.3:
            due_at = get_local_time(app.clock(), life.zone, days=days, hour=luck.randrange(24))
        await believe(app, chat_context, said, kind, due_at, life.zone)


async def live_through(
    app: AppContext, clock: FrozenClock, lines: dict[str, ChatContext], reaper: Reaper
) -> None:
    """Live through all days; whoever is killed comes back when the lease is over."""
    luck = random.Random(20)
    mortal = replace(app, on_crash_point=reaper)
    for day in range(DAYS):
        speakers = sorted(
            (START + day * DAY + luck.randrange(20) * HOUR, life.name)
            for life in LIVES
            if day == 0 or (life.answers and day % life.writes_every == 0)
        )
        for when, name in speakers:
            await survive(mortal, clock, when)
            (life,) = [each for each in LIVES if each.name == name]
            await speak(app, lines[name], life, luck)
    await survive(mortal, clock, START + DAYS * DAY)


async def survive(app: AppContext, clock: FrozenClock, until: Micros) -> None:
    """Live until a moment, with another worker whenever one was killed."""
    while clock.now < until:
        with suppress(Killed):
            while await run_due(app, lease_s=MOMENT_S):  # what was left by whoever was killed
                pass
            await live_until(app, clock, until, lease_s=MOMENT_S)
            return
        clock.tick(seconds=61)  # its lease is over


@pytest.mark.timeout(1_800)
async def test_nobody_is_disturbed_or_told_twice_in_three_months(
    app: AppContext, clock: FrozenClock
) -> None:
    """No limit is passed by anybody, and nothing is said twice (ACCEPTANCE L13, L14, L16, X13)."""
    clock.now = START
    app = replace(app, platforms=frozenset({"phone"}))
    lines = {life.name: await move_in(app, life) for life in LIVES}
    reaper = Reaper(random.Random(1))
    await live_through(app, clock, lines, reaper)

    assert reaper.killed > DAYS / 10
    for life in LIVES:
        said = await list_unasked(app, lines[life.name])
        check_quiet(life, said)
        check_pace(life, said)
        await check_cold(app, life, lines[life.name], said)
        await check_once(app, lines[life.name], said)
    assert len(await list_unasked(app, lines["Nora"])) > DAYS / 10
    assert len(await list_unasked(app, lines["Priya"])) >= DAYS / 20


def check_quiet(life: Life, said: list[Message]) -> None:
    """Never in the quiet hours of their own clock (ACCEPTANCE L14)."""
    local = [from_micros(each.at, life.zone).strftime("%H:%M") for each in said]
    begins, ends = (
        f"{minute // 60:02d}:{minute % 60:02d}" for minute in (life.quiet.begins, life.quiet.ends)
    )
    if begins < ends:
        assert [each for each in local if begins <= each < ends] == []
    else:
        assert [each for each in local if each >= begins or each < ends] == []


def check_pace(life: Life, said: list[Message]) -> None:
    """Never above the caps of a level (ACCEPTANCE L13, L16)."""
    pace = PACES[life.level]
    times = [each.at for each in said]
    for when in times:
        assert len([each for each in times if when - DAY < each <= when]) <= pace.max_per_day
    least = min(gap.gap for gap in pace.gaps) - JITTER if pace.gaps else pace.cooldown
    assert all(later - earlier >= least for earlier, later in pairwise(times))


async def check_cold(
    app: AppContext, life: Life, chat_context: ChatContext, said: list[Message]
) -> None:
    """Who does not answer is left alone (ACCEPTANCE L13)."""
    async with app.db.begin_read() as tx:
        everything = await list_messages(tx, chat_context.person.id, limit=100_000)
    unasked, run = {each.id for each in said}, list[Micros]()
    for message in sorted(everything, key=lambda each: each.seq):
        if message.role == "person":
            run = []
        if message.id not in unasked:
            continue
        run.append(message.at)
        assert len(run) <= MAX_UNANSWERED_EVER
        assert len(run) < 3 or run[-2] - run[-3] > UNANSWERED_WINDOW
    if not life.answers:
        assert 1 <= len(said) <= MAX_UNANSWERED_EVER


async def check_once(app: AppContext, chat_context: ChatContext, said: list[Message]) -> None:
    """Each impulse was said once and is delivered once, whoever was killed (ACCEPTANCE L13)."""
    async with app.db.begin_read() as tx:
        impulses = await list_impulses(tx, chat_context.person.id, limit=10_000)
        jobs = await list_jobs(tx, is_dead_letter=False)
    assert sorted(each.message for each in impulses if each.status == "said") == sorted(
        each.id for each in said
    )
    assert max(Counter(each.impulse.key for each in impulses).values()) == 1
    assert max(Counter(each.external_id for each in said).values()) == 1
    assert all(each.decisions for each in impulses if each.status != "waiting")
    sent = Counter(
        parse_reply_part(job).reply
        for job in jobs
        if job.queue == "outbox" and job.person == chat_context.person.id
    )
    assert {sent[each.id] for each in said} == {1}
