"""Whatever dies while people write on Telegram, and whatever Telegram does: nothing is lost.

Each message asks for a note, so that each reply quotes the message that it answers.
"""

import random
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from oldfriend.channels.telegram.bot_api import SEND_LOCK_TIMEOUT_S
from oldfriend.channels.telegram.http_client import QUEUE_SLOT_S
from oldfriend.prompts.locale_phrases import load_phrases
from oldfriend.queues.queue import CRASHES_BEFORE_ISOLATION, MAX_CRASHES
from tests.conftest import SIZE, Sizes
from tests.engines import SEVERAL_PROCESSES
from tests.fakes.telegram import Fault, World, running_telegram
from tests.fakes.telegram.world import Shown, sometimes
from tests.journeys.conftest import enlarge, fill
from tests.journeys.telegram_kills import (
    FIRST_USER,
    WINDOW_S,
    Struck,
    one_who_serves,
    struck_by,
    width_of,
)
from tests.journeys.telegram_server import home_on
from tests.processes import Program, kill, until

FAULTY = 0.25
AT_FULL_SIZE = pytest.mark.skipif(SIZE != "full", reason="the same with faults is run each time")


@dataclass(frozen=True, slots=True)
class Seen:
    """What all chats show in the end."""

    lost: list[str]
    disordered: list[int]  # chats
    doubled: list[Shown]  # each as it was shown before it was shown once more


@pytest.fixture
def world() -> Iterator[World]:
    """A Telegram of this test."""
    with running_telegram() as world:
        yield world


def note(number: int) -> str:
    """The words that come back in the reply to a message."""
    return f"box {number} is green"


def look(world: World, said: dict[int, list[str]]) -> Seen:
    """Compare what was said with what was answered, chat by chat."""
    lost, disordered, doubled = [], [], []
    for chat, notes in said.items():
        replies = [each for each in world.shown if each.chat == chat and "box" in each.text]
        answered = [next(n for n in notes if n in each.text) for each in replies]
        order = list(dict.fromkeys(answered))
        lost += [each for each in notes if each not in order]
        doubled += [
            each for place, each in enumerate(replies) if answered[place] in answered[place + 1 :]
        ]
        if order != [each for each in notes if each in order]:
            disordered.append(chat)
    return Seen(lost, disordered, doubled)


def is_all_answered(world: World, said: dict[int, list[str]]) -> bool:
    """Whether each message has its reply."""
    with world.changed:
        texts = {chat: "\n".join(world.texts(chat)) for chat in said}
    return all(each in texts[chat] for chat, notes in said.items() for each in notes)


STEPS = (
    "accept",
    "accepted",
    "thinking",
    "decided",
    "committing",
    "committed",
    "sending",
    "sent",
    "delivered",
)
"""Of a turn without a model."""


@pytest.mark.parametrize("step", STEPS)
def test_telegram_crash_at_any_step_is_recovered_by_the_next_process(
    tmp_path: Path, world: World, step: str
) -> None:
    """At each named step: heard again, answered once, in order."""
    said = {FIRST_USER: [note(0), note(1)]}
    for each in said[FIRST_USER]:
        world.says(FIRST_USER, f"remember that {each}")
    with one_who_serves(tmp_path, world, step) as first:
        assert first.wait(60) == -signal.SIGKILL
    with one_who_serves(tmp_path, world):
        until(lambda: is_all_answered(world, said), within_s=120)
        time.sleep(0.5)  # for anything that would be shown twice
    seen = look(world, said)

    assert (seen.lost, seen.disordered, seen.doubled) == ([], [], [])


@pytest.mark.parametrize("goes_on", [True, False], ids=["goes on", "dies"])
def test_second_worker_waits_for_a_frozen_sender_before_resending(
    tmp_path: Path, world: World, goes_on: bool
) -> None:
    """With a call in the air it loses its chat to another, who sends nothing twice for that.

    Whoever dies then has its call in the one window, and is not waited for any longer.
    """
    said = {FIRST_USER: [note(0), note(1)]}
    world.scripted["sendMessage"].append(Fault(status=200, delay_s=1.0))
    world.says(FIRST_USER, f"remember that {note(0)}")
    with one_who_serves(tmp_path, world) as slow:
        assert world.wait(lambda: bool(world.texts(FIRST_USER)), seconds=60)
        time.sleep(0.3)  # whoever holds SQLite's own lock when it freezes freezes all
        slow.send_signal(signal.SIGSTOP)
        before = times_taken(tmp_path)
        with one_who_serves(tmp_path, world):
            until(lambda: times_taken(tmp_path) > before, within_s=60)
            time.sleep(0.5)  # for anything that would be sent
            were_shown = len(world.texts(FIRST_USER))
            slow.send_signal(signal.SIGCONT if goes_on else signal.SIGKILL)
            began = time.monotonic()
            world.says(FIRST_USER, f"remember that {note(1)}")
            until(lambda: is_all_answered(world, said), within_s=60)
            took_s = time.monotonic() - began
            time.sleep(0.5)  # for anything that would be shown twice
    seen = look(world, said)

    assert were_shown == 1
    assert (seen.lost, seen.disordered) == ([], [])
    assert len(seen.doubled) == (0 if goes_on else 1)
    assert took_s < SEND_LOCK_TIMEOUT_S / 2


def test_repeated_crash_during_send_shows_a_reply_at_most_twice(
    tmp_path: Path, world: World
) -> None:
    """Each dies with its call in the air; then it is set aside, and what comes next is answered."""
    said = {FIRST_USER: [note(0), note(1)]}
    world.scripted["sendMessage"].extend([Fault(status=200, delay_s=5.0)] * 2)
    world.says(FIRST_USER, f"remember that {note(0)}")
    for times in (1, 2):
        with one_who_serves(tmp_path, world) as doomed:
            until(lambda: len(world.texts(FIRST_USER)) >= times, within_s=60)  # noqa: B023
            doomed.kill()
    with one_who_serves(tmp_path, world):
        until(lambda: bool(set_aside(tmp_path)), within_s=60)
        world.says(FIRST_USER, f"remember that {note(1)}")
        until(lambda: is_all_answered(world, said), within_s=60)
        time.sleep(0.5)  # for anything that would be shown once more

    assert [sum(each in text for text in world.texts(FIRST_USER)) for each in said[FIRST_USER]] == [
        2,
        1,
    ]
    assert "may have arrived" in str(set_aside(tmp_path))


def set_aside(folder: Path) -> list[str]:
    """Why messages that wait to be sent were set aside."""
    with closing(sqlite3.connect(f"file:{folder}/oldfriend.db?mode=ro", uri=True)) as database:
        found = database.execute("SELECT error FROM job WHERE dead_lettered_at IS NOT NULL")
        return [error for (error,) in found]


def times_taken(folder: Path) -> int:
    """How often somebody took up what is to be delivered in the only chat."""
    with closing(sqlite3.connect(f"file:{folder}/oldfriend.db?mode=ro", uri=True)) as database:
        (epoch,) = database.execute(
            "SELECT epoch FROM job_partition WHERE queue = 'outbox'"
        ).fetchone()
    return int(epoch)


def test_crashing_message_becomes_a_dead_letter_with_one_apology(
    tmp_path: Path, world: World
) -> None:
    """What takes down each who begins it is set aside, and not passed over in silence."""
    world.says(FIRST_USER, f"remember that {note(0)}")
    for _ in range(CRASHES_BEFORE_ISOLATION + MAX_CRASHES):
        with one_who_serves(tmp_path, world, "thinking") as doomed:
            assert doomed.wait(60) == -signal.SIGKILL
    assert world.texts(FIRST_USER) == []
    with one_who_serves(tmp_path, world):
        until(lambda: bool(world.texts(FIRST_USER)), within_s=60)
        world.says(FIRST_USER, f"remember that {note(1)}")
        until(lambda: len(world.texts(FIRST_USER)) > 1, within_s=60)
        time.sleep(0.5)  # for anything that would be shown twice

    apology, reply = world.texts(FIRST_USER)
    assert apology == load_phrases("en").phrases["trouble_broken"]
    assert note(1) in reply


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    "faulty",
    [
        pytest.param(0.0, id="kills", marks=AT_FULL_SIZE),
        pytest.param(FAULTY, id="kills and faults"),
    ],
)
@SEVERAL_PROCESSES
def test_no_telegram_message_is_lost_or_reordered_by_kills_and_faults(
    oldfriend: Program,
    world: World,
    database_url: str,
    engine: str,
    sizes: Sizes,
    faulty: float,
    record_property: Callable[[str, object], None],
) -> None:
    """`serve` is killed at any moment, on PostgreSQL beside two `work`; again with faults."""
    chance = random.Random(5)
    users = range(FIRST_USER, FIRST_USER + sizes.crash_chats)
    home = home_on(
        oldfriend,
        world,
        OLDFRIEND_DATABASE=database_url,
        OLDFRIEND_TELEGRAM_QUIET_S="0",
        OLDFRIEND_LIMITS_LEASE_S="2",
        OLDFRIEND_LIMITS_HEARTBEAT_S="0.5",
        OLDFRIEND_TELEGRAM_ALLOWED=",".join(map(str, users)),
        OLDFRIEND_MEMORY_FORMS="false",
    )
    world.chance = sometimes(faulty, seed=3)
    commands = ["serve"] if engine == "sqlite" else ["serve", "work", "work"]
    said: dict[int, list[str]] = {user: [] for user in users}
    kills: list[float] = []
    with ExitStack() as alive:
        team = [alive.enter_context(home.program.started(each)) for each in commands]
        for number in range(sizes.crash_messages):
            user = chance.choice(users)
            said[user].append(note(number))
            world.says(user, f"remember that {note(number)}")
            if (number + 1) % (sizes.crash_messages // sizes.kills) == 0:
                before = len(world.shown)
                world.wait(lambda: len(world.shown) > before, seconds=30)  # noqa: B023
                time.sleep(chance.uniform(0, 0.5))
                nth = chance.randrange(len(team))
                kills.append(time.monotonic())
                kill(team[nth])
                team[nth] = alive.enter_context(home.program.started(commands[nth]))
        longest_s = 60 + 1.5 * sizes.crash_messages
        until(lambda: is_all_answered(world, said), within_s=longest_s)
        time.sleep(3)  # for anything that would be shown twice
    seen = look(world, said)
    struck = struck_by(kills, seen.doubled)
    record_property("told", told_of(seen, struck, kills, len(world.shown)))

    assert seen.lost == []
    assert seen.disordered == []
    assert not shown_thrice(seen)
    assert all(width_of(each) < WINDOW_S for each in struck)
    in_time = [each.kill for each in struck if width_of(each) < QUEUE_SLOT_S]
    assert set(Counter(in_time).values()) <= {1}  # whoever is late is waited for no longer


def shown_thrice(seen: Seen) -> list[str]:
    """What was shown more often than twice."""
    return [
        text for text, times in Counter(each.text for each in seen.doubled).items() if times > 1
    ]


def told_of(seen: Seen, struck: list[Struck], kills: list[float], shown: int) -> str:
    """The figures of a run, for whoever reads them."""
    times = Counter(each.kill for each in struck)
    late = max((each.shown_at - each.kill for each in struck), default=0)
    early = max((each.kill - each.shown_at for each in struck), default=0)
    return (
        f"{shown} shown, lost {len(seen.lost)}, disordered {len(seen.disordered)}, "
        f"doubled {len(seen.doubled)}; {len(kills)} kills, {len(times)} of them in the window, "
        f"at most {max(times.values(), default=0)} by one, shown up to {1000 * max(early, 0):.0f} "
        f"ms before and {1000 * max(late, 0):.0f} ms after"
    )


def test_full_disk_loses_no_telegram_message(
    oldfriend: Program, world: World, small_disk: Path
) -> None:
    """What cannot be kept is not confirmed to Telegram, and heard again once there is room."""
    enlarge(small_disk, 16)
    users = range(FIRST_USER, FIRST_USER + 3)
    home = home_on(
        replace(oldfriend, data=small_disk / "data"),
        world,
        OLDFRIEND_TELEGRAM_QUIET_S="0",
        OLDFRIEND_TELEGRAM_ALLOWED=",".join(map(str, users)),
        OLDFRIEND_MEMORY_FORMS="false",
    )
    said: dict[int, list[str]] = {user: [] for user in users}

    def says(count: int) -> None:
        for number in range(count):
            for user in users:
                said[user].append(note(1000 * len(said[user]) + user + number))
                world.says(user, f"remember that {said[user][-1]}")

    with home.program.started("serve"):
        says(1)
        until(lambda: is_all_answered(world, said), within_s=60)
        filler = fill(small_disk)
        says(8)
        time.sleep(3)
        is_refused = not is_all_answered(world, said)
        waiting = len(world.updates)
        filler.unlink()
        until(lambda: is_all_answered(world, said), within_s=120)
    seen = look(world, said)

    assert is_refused
    assert waiting > 0
    assert (seen.lost, seen.disordered) == ([], [])
