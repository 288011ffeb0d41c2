"""What is said goes through the inbox: in order, once, and not against the person's will."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest

from oldfriend.app import holding, working
from oldfriend.app.accepting import Accepted, Line, Said, accept, edit, open_line, stop
from oldfriend.app.answering import answer, see_answered
from oldfriend.app.choices.sections import Limits
from oldfriend.app.delivering import deliver
from oldfriend.app.holding import Hold
from oldfriend.app.house import House, Step
from oldfriend.app.waking import Waking
from oldfriend.app.working import (
    BREATH_S,
    PATIENCE_S,
    answer_all,
    claim_some,
    until_calm,
    work,
)
from oldfriend.db.database import Transaction
from oldfriend.domain.errors import (
    LeaseLost,
    NotDelivered,
    StoreBusy,
    TurnFailed,
    TurnStopped,
    Undeliverable,
)
from oldfriend.domain.letters import Claim, Letter
from oldfriend.evals.roles import with_models
from oldfriend.llm.model import Request, ToolCall, Turn
from oldfriend.llm.scripted import Scripted, ScriptedModel
from oldfriend.memory.log import list_recent
from oldfriend.queues.lanes import MOST_ATTEMPTS, claim, drop_letter, list_letters, retry_letter
from tests.clock import FrozenClock
from tests.fakes.platform import Mute


@dataclass
class Platform(Mute):
    """A channel in memory."""

    quiet_s: float = 0.0
    sent: list[str] = field(default_factory=list)
    trouble: list[Exception] = field(default_factory=list)  # instead of taking the next ones

    def parts(self, text: str) -> Sequence[str]:
        """A line is a part."""
        return text.splitlines()

    async def send(self, address: str, text: str, *, key: str) -> str:
        """Take it, or not."""
        if self.trouble:
            raise self.trouble.pop(0)
        self.sent.append(text)
        return key


def with_model(house: House, model: ScriptedModel) -> House:
    """The house with a model to think with, which knows its channels as platforms."""
    return replace(with_models(house, {"main": model}), platforms=frozenset(house.channels))


def echo(request: Request) -> Scripted:
    """Say what was said."""
    last = request.turns[-1]
    assert isinstance(last, Turn)
    return Scripted(text=f"re: {last.text}")


def slowly(request: Request) -> Scripted:
    """The same, after a while."""
    return replace(echo(request), delay_s=0.3)


async def said(house: House, line: Line, text: str, **more: object) -> Accepted:
    """Have something said that waits for a worker."""
    accepted = await accept(house, line, Said(text=text, **more), to_answer=False)
    assert accepted is not None
    return accepted


async def log_of(house: House, line: Line) -> list[tuple[str, str]]:
    """What stands in a chat."""
    async with house.db.reading() as tx:
        messages = await list_recent(tx, line.person.id, line.chat.id, limit=50)
    return [(message.role, message.text) for message in messages]


async def letters_in(house: House, *, parked: bool = False) -> list[Letter]:
    """What waits, or is set aside."""
    async with house.db.reading() as tx:
        return [each for each in await list_letters(tx, parked=parked) if each.queue != "agenda"]


async def work_until(house: House, is_so: Callable[[], bool], *, within_s: float = 10.0) -> None:
    """Let a worker work until something is so."""
    stopping, step = asyncio.Event(), asyncio.Event()
    watched = replace(house, reached=lambda _: step.set())
    async with asyncio.timeout(within_s), asyncio.TaskGroup() as tasks:
        tasks.create_task(work(watched, stopping=stopping))
        while not is_so():
            await step.wait()
            step.clear()
        stopping.set()


@pytest.fixture
async def line(house: House) -> Line:
    """The owner, on a platform."""
    return await open_line(house, person=None, channel="platform")


async def test_what_was_delivered_twice_is_answered_once(house: House, line: Line) -> None:
    """Platforms redeliver what they are not sure of."""
    platform = Platform()
    house = with_model(replace(house, channels={"platform": platform}), ScriptedModel(echo))
    await said(house, line, "hello there", key="m1")
    assert await accept(house, line, Said(text="hello there", key="m1"), to_answer=False) is None
    await work_until(house, lambda: bool(platform.sent))
    assert await accept(house, line, Said(text="hello there", key="m1"), to_answer=False) is None

    assert platform.sent == ["re: hello there"]
    assert await letters_in(house) == []


async def test_a_burst_is_one_turn(house: House, line: Line, clock: FrozenClock) -> None:
    """Whoever writes in short lines is not answered line by line."""
    platform = Platform(quiet_s=2.0)
    model = ScriptedModel(echo)
    house = with_model(replace(house, channels={"platform": platform}), model)
    for number, text in enumerate(("so", "guess what", "we got the flat")):
        clock.tick(seconds=1)
        await said(house, line, text, key=f"m{number}", number=number)
    clock.tick(seconds=3)
    await work_until(house, lambda: len(platform.sent) == 3)

    assert platform.sent == ["re: so", "guess what", "we got the flat"]
    assert len(model.asked) == 1


async def test_an_edit_while_a_turn_is_decided_has_it_decided_anew(
    house: House, line: Line
) -> None:
    """Nothing was shown yet: only the corrected words are answered."""
    house = with_model(house, ScriptedModel(slowly))
    accepted = await said(house, line, "I live in Ghent")
    async with asyncio.TaskGroup() as tasks:
        answering = tasks.create_task(see_answered(house, accepted, say=None))
        await asyncio.sleep(0.1)
        await edit(house, line, accepted.message.id, "I live in Bruges")

    assert answering.result().reply.text == "re: I live in Bruges"
    assert await letters_in(house) == []


async def test_an_edit_after_words_were_shown_waits_behind_the_turn(
    house: House, line: Line
) -> None:
    """What somebody has read is not said once more in other words."""
    heard: list[str] = []

    async def say(piece: str) -> None:
        heard.append(piece)
        if len(heard) == 1:
            await edit(house, line, accepted.message.id, "I live in Bruges")

    house = with_model(house, ScriptedModel(echo))
    accepted = await said(house, line, "I live in Ghent")
    given = await see_answered(house, accepted, say=say)

    assert "".join(heard) == given.reply.text == "re: I live in Ghent"
    assert ("person", "I live in Bruges") in await log_of(house, line)
    assert await letters_in(house) == []


@pytest.mark.parametrize("look_every_s", [0.2, 60])
async def test_stop_ends_a_turn_at_once(
    house: House, line: Line, monkeypatch: pytest.MonkeyPatch, look_every_s: float
) -> None:
    """Nothing is answered, and the log says why; it need not be looked for where it is said."""
    monkeypatch.setattr(holding, "LOOK_EVERY_S", look_every_s)
    limits = replace(house.settings.limits, heartbeat_s=30, lease_s=120)
    house = replace(house, settings=replace(house.settings, limits=limits))
    house = with_model(house, ScriptedModel(lambda request: replace(echo(request), delay_s=60)))
    accepted = await said(house, line, "tell me everything")

    async def wait_in_vain() -> None:
        with pytest.raises(TurnStopped):
            await see_answered(house, accepted, say=None)

    async with asyncio.timeout(10), asyncio.TaskGroup() as tasks:
        tasks.create_task(wait_in_vain())
        await asyncio.sleep(0.1)
        stopper = house if look_every_s > 1 else replace(house, waking=Waking(house.db))
        await stop(stopper, line, accepted.message.id)

    assert [role for role, _ in await log_of(house, line)] == ["person", "marker"]


async def test_who_says_too_much_waits_and_loses_nothing(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """Fifteen a minute are answered at once; the rest when there is room, in order."""
    platform = Platform()
    limits = replace(house.settings.limits, messages_per_minute=15)
    house = with_model(
        replace(
            house, channels={"platform": platform}, settings=replace(house.settings, limits=limits)
        ),
        ScriptedModel(echo),
    )
    for number in range(20):
        await said(house, line, f"line {number}")
    await work_until(house, lambda: len(platform.sent) == 15)
    assert len(await letters_in(house)) == 5
    clock.tick(seconds=8)
    await work_until(house, lambda: len(platform.sent) == 17)
    clock.tick(seconds=60)
    await work_until(house, lambda: len(platform.sent) == 20)

    assert platform.sent == [f"re: line {number}" for number in range(20)]


async def test_a_model_that_takes_too_long_is_not_waited_for(house: House, line: Line) -> None:
    """The person hears the truth, and the next turn does not catch up."""
    limits = Limits(messages_per_minute=0, turn_timeout_s=0.2)
    house = with_model(
        replace(house, settings=replace(house.settings, limits=limits)),
        ScriptedModel(lambda request: replace(echo(request), delay_s=60)),
    )
    given = await answer(house, line, Said(text="tell me a story"))

    assert "takes too long" in given.reply.text
    assert given.receipt.details["trouble"] == {"kind": "slow", "error": ""}
    assert ("marker", "slow") in await log_of(house, line)


async def test_a_turn_that_fails_again_and_again_is_owned_up_to_and_can_be_tried_again(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """It is set aside, those behind it are answered, and nothing is lost."""
    platform = Platform()
    broken = True

    def break_or_echo(request: Request) -> Scripted:
        if broken and "bad" in request.turns[-1].text:
            raise RuntimeError("a bug")
        return echo(request)

    house = with_model(
        replace(house, channels={"platform": platform}), ScriptedModel(break_or_echo)
    )
    await said(house, line, "a bad thing")
    await said(house, line, "a good thing")
    for _ in range(MOST_ATTEMPTS):
        count = len(platform.sent)
        stopping = asyncio.Event()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(work(house, stopping=stopping))
            await asyncio.sleep(0.15)
            stopping.set()
        clock.tick(seconds=400)
    await work_until(house, lambda: len(platform.sent) == 2)
    assert count == 0
    assert "went wrong" in platform.sent[0]
    assert platform.sent[1] == "re: a good thing"
    (parked,) = await letters_in(house, parked=True)
    assert "a bug" in str(parked.error)

    broken = False
    async with house.db.writing() as tx:
        await retry_letter(tx, parked.queue, parked.lane, parked.seq, now=house.clock())
    await work_until(house, lambda: len(platform.sent) == 3)
    assert platform.sent[2] == "re: a bad thing"
    assert await letters_in(house, parked=True) == []


async def test_what_a_platform_does_not_take_is_tried_again_in_order(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """And what it will never take holds back the rest of its own reply only."""
    platform = Platform(trouble=[NotDelivered("busy", retry_after_s=5), Undeliverable("too odd")])
    house = with_model(
        replace(house, channels={"platform": platform}),
        ScriptedModel(["one\ntwo", "three"]),
    )
    await said(house, line, "first")
    await said(house, line, "second")
    await work_until(house, lambda: len(platform.trouble) == 1)
    assert platform.sent == []
    clock.tick(seconds=60)
    await work_until(house, lambda: bool(platform.sent))

    assert platform.sent == ["three"]
    assert [letter.body["text"] for letter in await letters_in(house, parked=True)] == [
        "one",
        "two",
    ]


async def test_who_was_taken_for_dead_sends_nothing(house: House, line: Line) -> None:
    """Somebody else has taken over by then, and the person would read it twice."""
    platform = Platform()
    house = with_model(replace(house, channels={"platform": platform}), ScriptedModel(["one"]))
    await answer(replace(house, channels={}), line, Said(text="first"))
    late, after = [await outbox_of(house, name, lease_s=0.01) for name in ("late", "after")]

    await deliver(house, late, asyncio.Event())
    assert platform.sent == []
    await deliver(house, after, asyncio.Event())
    assert platform.sent == ["one"]


async def test_who_was_overtaken_hears_what_the_other_has_answered(
    house: House, line: Line
) -> None:
    """A process that had no time for its lease decided the same turn; it writes nothing."""
    limits = replace(house.settings.limits, lease_s=0.05, heartbeat_s=10.0)
    busy = replace(house, settings=replace(house.settings, limits=limits))
    late = with_model(busy, ScriptedModel([Scripted(text="Too late.", delay_s=0.6)]))
    quick = with_model(house, ScriptedModel(["It was me."]))
    accepted = await accept(late, line, Said(text="hello there"), to_answer=True)
    assert accepted is not None
    async with asyncio.TaskGroup() as tasks:
        asked = tasks.create_task(see_answered(late, accepted, say=None))
        await asyncio.sleep(0.2)
        await see_answered(quick, replace(accepted, claim=None), say=None)

    assert (await asked).reply.text == "It was me."
    assert await log_of(house, line) == [("person", "hello there"), ("companion", "It was me.")]


async def outbox_of(house: House, name: str, *, lease_s: float) -> Claim:
    """Hold the outbox for so long, as one of several."""
    async with house.db.writing() as tx:
        held = await claim(tx, "outbox", owner=name, now=house.clock(), lease_s=lease_s)
    assert held is not None
    await asyncio.sleep(2 * lease_s)
    return held


async def test_a_turn_that_is_run_again_does_and_pays_nothing_twice(
    house: House, line: Line
) -> None:
    """The ledger knows what was given and done before the crash."""

    def look_at_the_clock(request: Request) -> Scripted:
        if len(request.turns) > 1:
            return Scripted(text="It is late.")
        wanted = ToolCall(id="t1", name="current_time", arguments={"zone": "Asia/Tokyo"})
        return Scripted(calls=(wanted,))

    model = ScriptedModel(look_at_the_clock)
    steps: list[str] = []

    class PowerCut(BaseException):
        """The end of a process, as far as this one can have it."""

    def cut(step: str) -> None:
        steps.append(step)
        if step == "decided" and steps.count("decided") == 1:
            raise PowerCut

    house = replace(with_model(house, model), reached=cut)
    accepted = await said(house, line, "what time is it in Tokyo?")
    with pytest.raises(PowerCut):
        await see_answered(house, accepted, say=None)
    await asyncio.sleep(0)
    async with house.db.writing() as tx:  # its lease is over
        await tx.run("UPDATE lane SET lease_until = 1 WHERE lease_until IS NOT NULL")
    given = await see_answered(house, accepted, say=None)

    assert given.reply.text == "It is late."
    assert len(model.asked) == 2
    assert steps.count("called") == 2
    assert steps.count("tool finished") == 1


async def test_who_edits_twice_is_answered_once(house: House, line: Line) -> None:
    """The last words count, however often they were changed before the answer."""
    house = with_model(house, ScriptedModel(slowly))
    accepted = await said(house, line, "I live in Ghent")
    await edit(house, line, accepted.message.id, "I live in Bruges")
    async with asyncio.TaskGroup() as tasks:
        answering = tasks.create_task(see_answered(house, accepted, say=None))
        await asyncio.sleep(0.1)
        await edit(house, line, accepted.message.id, "I live in Ostend")

    assert answering.result().reply.text == "re: I live in Ostend"
    assert await letters_in(house) == []


async def test_a_worker_that_is_told_to_end_leaves_the_rest_of_a_chat_to_others(
    house: House, line: Line
) -> None:
    """However much waits there."""
    platform, begun = Platform(), asyncio.Event()

    def ask(request: Request) -> Scripted:
        begun.set()
        return slowly(request)

    model = ScriptedModel(ask)
    house = with_model(replace(house, channels={"platform": platform}), model)
    for number in range(5):
        await said(house, line, f"line {number}")
    stopping = asyncio.Event()
    async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
        tasks.create_task(work(house, stopping=stopping))
        await begun.wait()
        stopping.set()
    assert len(model.asked) == 1
    await work_until(house, lambda: len(platform.sent) == 5)

    assert platform.sent == [f"re: line {number}" for number in range(5)]


async def test_who_is_interrupted_gives_the_chat_back(house: House, line: Line) -> None:
    """The next one need not wait for the lease to end, and no attempt is counted."""
    slow = with_model(house, ScriptedModel(lambda request: replace(echo(request), delay_s=60)))
    accepted = await said(slow, line, "first")
    for _ in range(MOST_ATTEMPTS + 1):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await see_answered(slow, accepted, say=None)
    quick = with_model(house, ScriptedModel(echo))
    async with asyncio.timeout(5):
        given = await see_answered(quick, accepted, say=None)

    assert given.reply.text == "re: first"


async def test_a_platform_that_is_away_for_hours_gets_everything_when_it_is_back(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """An outage is weather: nothing is set aside for it."""
    platform = Platform(trouble=[NotDelivered("away") for _ in range(12)])
    house = with_model(replace(house, channels={"platform": platform}), ScriptedModel(echo))
    await said(house, line, "hello there")
    for left in reversed(range(12)):
        await work_until(house, lambda left=left: len(platform.trouble) == left)
        clock.tick(minutes=20)
    await work_until(house, lambda: bool(platform.sent))

    assert platform.sent == ["re: hello there"]
    assert await letters_in(house, parked=True) == []


async def test_a_database_that_is_away_is_waited_for(house: House, line: Line) -> None:
    """It is no crash of the worker."""
    platform = Platform()
    house = with_model(replace(house, channels={"platform": platform}), ScriptedModel(echo))
    await said(house, line, "hello there")

    @dataclass
    class Moody:
        """A database that fails for a while."""

        failures: int = 4

        def __getattr__(self, name: str) -> object:
            if name == "writing" and self.failures:
                self.failures -= 1
                raise StoreBusy("Another program is writing.")
            return getattr(house.db, name)

    await work_until(replace(house, db=Moody()), lambda: bool(platform.sent), within_s=30)

    assert platform.sent == ["re: hello there"]


async def test_a_lease_whose_extension_is_not_committed_runs_out(house: House, line: Line) -> None:
    """Whoever works on finds that out, and does not take it for extended."""

    class Full:
        """A database that takes nothing any more, as it says at each commit."""

        def __getattr__(self, name: str) -> object:
            return getattr(house.db, name)

        @asynccontextmanager
        async def writing(self) -> AsyncIterator[Transaction]:
            async with house.db.writing() as tx:
                yield tx
                raise StoreBusy("The disk is full.")

    limits = Limits(messages_per_minute=0, lease_s=0.4, heartbeat_s=0.1)
    house = replace(house, settings=replace(house.settings, limits=limits))
    await said(house, line, "one")
    [held] = await claim_some(house, "inbox", 1)
    with pytest.raises(LeaseLost):
        await Hold(replace(house, db=Full()), held).during(asyncio.sleep(5))


async def test_what_is_dropped_is_not_waited_for(house: House, line: Line) -> None:
    """Whoever waits hears that there will be no answer."""
    accepted = await said(house, line, "never mind")
    (letter,) = await letters_in(house)
    async with house.db.writing() as tx:
        await drop_letter(tx, letter.queue, letter.lane, letter.seq, now=house.clock())
    with pytest.raises(TurnFailed, match="set aside"):
        async with asyncio.timeout(5):
            await see_answered(house, accepted, say=None)


async def test_a_long_row_of_short_turns_outlasts_a_lease(house: House, line: Line) -> None:
    """The lane stays with whoever works on it, also when there is never a pause."""
    platform = Platform()
    limits = Limits(messages_per_minute=0, lease_s=1.0, heartbeat_s=0.1)
    model = ScriptedModel(echo)
    house = replace(
        house, channels={"platform": platform}, settings=replace(house.settings, limits=limits)
    )
    house = with_model(house, model)
    for number in range(60):
        await said(house, line, f"line {number}")
    await work_until(house, lambda: len(platform.sent) == 60, within_s=30)

    assert len(model.asked) == 60
    assert platform.sent == [f"re: line {number}" for number in range(60)]


async def test_who_comes_to_a_chat_when_its_lease_is_over_asks_no_model(
    house: House, line: Line
) -> None:
    """The time between the claim and the work counts, too: another may be at it by now."""
    limits = Limits(messages_per_minute=0, lease_s=0.2, heartbeat_s=0.1)
    model = ScriptedModel(echo)
    house = with_model(replace(house, settings=replace(house.settings, limits=limits)), model)
    await said(house, line, "one")
    [late] = await claim_some(house, "inbox", 1)
    time.sleep(limits.lease_s)  # noqa: ASYNC251 - what keeps the whole process from its work
    await answer_all(house, late, asyncio.Event())
    assert model.asked == []

    [again] = await claim_some(house, "inbox", 1)
    await answer_all(house, again, asyncio.Event())
    assert await log_of(house, line) == [("person", "one"), ("companion", "re: one")]
    assert len(model.asked) == 1


async def test_a_reply_for_a_platform_is_sent_whoever_has_answered(
    house: House, line: Line
) -> None:
    """The process that answers need not reach the platform; the one that does cuts the reply."""
    platform = Platform()
    elsewhere = replace(with_model(house, ScriptedModel(["one\ntwo"])), platforms={"platform"})
    await answer(elsewhere, line, Said(text="hello there"))
    (letter,) = await letters_in(house)
    assert (letter.queue, letter.body["text"]) == ("outbox", "one\ntwo")
    await work_until(
        replace(elsewhere, channels={"platform": platform}), lambda: len(platform.sent) == 2
    )

    assert platform.sent == ["one", "two"]
    assert await letters_in(house) == []


async def test_a_worker_that_reaches_no_platform_leaves_replies_alone(
    house: House, line: Line
) -> None:
    """It would only put them off for those who could send them."""
    house = replace(with_model(house, ScriptedModel(echo)), platforms={"platform"})
    await answer(house, line, Said(text="hello there"))
    stopping = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(work(house, stopping=stopping))
        await asyncio.sleep(0.2)
        stopping.set()

    (letter,) = await letters_in(house)
    assert (letter.attempts, letter.error) == (0, None)


async def test_a_place_that_is_no_platform_gets_no_letter(house: House) -> None:
    """Whoever talks there reads the reply from the log, also on a name of their own."""
    diary = await open_line(house, person=None, channel="diary")
    await answer(house, diary, Said(text="hello there"))

    assert await letters_in(house) == []


async def test_a_model_is_told_to_what_somebody_replies(house: House, line: Line) -> None:
    """In nobody's role; what is forgotten by now is not told of."""
    model = ScriptedModel(echo)
    house = with_model(house, model)
    first = await answer(house, line, Said(text="The lighthouse is red."))
    picked = Said(text="Why that one?", details={"replies_to": first.said.id})
    await answer(house, line, picked)
    await answer(house, line, replace(picked, details={"replies_to": "gone"}))
    told = [asked.changing for asked in model.asked]

    assert 'who="owner (the last message replies to this)"' in told[-2]
    assert "The lighthouse is red." in told[-2]
    assert "replies to this" not in told[-1]


@pytest.mark.parametrize("deaths", [0, 2])
async def test_what_was_beside_those_who_died_is_done_alone(
    house: House, line: Line, deaths: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So only what takes its worker down by itself is given up for that in the end."""
    monkeypatch.setattr(working, "SETTLED_S", 0.0)
    begun: list[Step] = []
    most: list[int] = []
    more = asyncio.Event()

    def reached(step: Step) -> None:
        if step == "thinking":
            begun.append(step)
            most.append(len(begun))
        elif step == "decided":
            begun.pop()
            more.set()

    house = with_model(house, ScriptedModel([Scripted(text="I see.", delay_s=0.2)]))
    lines = [await open_line(house, person=f"p{each}", channel="place") for each in range(4)]
    for each in lines:
        await said(house, each, "hello there")
    for _ in range(deaths):
        async with house.db.writing() as tx:
            for each in lines:
                held = await claim(
                    tx, "inbox", owner="dead", now=house.clock(), lease_s=0.01, lane=each.chat.id
                )
                assert held is not None
        await asyncio.sleep(0.05)
    stopping = asyncio.Event()
    async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
        tasks.create_task(work(replace(house, reached=reached), stopping=stopping))
        while len(most) < len(lines) or begun:
            await more.wait()
            more.clear()
        stopping.set()

    assert (max(most) == 1) == bool(deaths)


async def test_a_chat_that_hangs_keeps_others_for_no_longer_than_a_moment(
    house: House, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not where something is to be done alone beside it, nor where that is what hangs."""
    monkeypatch.setattr(working, "SETTLED_S", 0.0)
    monkeypatch.setattr(working, "EMPTIED_S", 0.2)
    monkeypatch.setattr(working, "ALONE_S", 0.4)

    def reply(request: Request) -> Scripted:
        reply = echo(request)
        return replace(reply, delay_s=5.0 if "hang" in reply.text else 0.0)

    committed = asyncio.Event()

    def reached(step: Step) -> None:
        if step == "committed":
            committed.set()

    house = replace(with_model(house, ScriptedModel(reply)), reached=reached)
    lines = [await open_line(house, person=f"p{each}", channel="place") for each in range(3)]
    hanging, suspect, other = lines
    await said(house, suspect, "please hang, too")
    for _ in range(2):
        await dies_at_it(house, suspect)
    await said(house, hanging, "please hang")
    began, stopping = time.monotonic(), asyncio.Event()
    async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
        tasks.create_task(work(house, stopping=stopping))
        await asyncio.sleep(0.1)
        await said(house, other, "hello there")
        await committed.wait()
        took_s = time.monotonic() - began
        stopping.set()

    assert took_s < 3.0
    assert await log_of(house, other) == [
        ("person", "hello there"),
        ("companion", "re: hello there"),
    ]


async def test_what_is_suspect_waits_until_its_worker_has_settled(
    house: House, line: Line, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who is killed again and again soon after the start gives nobody up for that."""
    monkeypatch.setattr(working, "SETTLED_S", 1.0)
    committed: asyncio.Queue[Step] = asyncio.Queue()

    def reached(step: Step) -> None:
        if step == "committed":
            committed.put_nowait(step)

    await said(house, line, "first")
    for _ in range(3):
        await dies_at_it(house, line)
    other = await open_line(house, person="Ben", channel="place")
    await said(house, other, "second")
    house = replace(with_model(house, ScriptedModel(echo)), reached=reached)
    stopping = asyncio.Event()
    async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
        tasks.create_task(work(house, stopping=stopping))
        await committed.get()
        (waits,) = await letters_in(house)
        await asyncio.sleep(1.1)
        clock.tick(seconds=2)
        house.waking.ring()
        await committed.get()
        stopping.set()

    assert (waits.lane, waits.attempts) == (line.chat.id, 3)
    assert await log_of(house, line) == [("person", "first"), ("companion", "re: first")]


async def dies_at_it(house: House, line: Line) -> None:
    """Have what waits in a chat begun by somebody who is never heard of again."""
    async with house.db.writing() as tx:
        held = await claim(
            tx, "inbox", owner="dead", now=house.clock(), lease_s=0.01, lane=line.chat.id
        )
    assert held is not None
    await asyncio.sleep(0.05)


async def test_lanes_are_taken_together_and_a_suspect_one_comes_last(house: House) -> None:
    """Many claims cost one commit; what may take its worker down is then done when all else is."""
    lines = [await open_line(house, person=f"p{each}", channel="terminal") for each in range(4)]
    for line in lines:
        await accept(house, line, Said(text="Hello!"), to_answer=False)
    for _ in range(2):  # whoever began the second one died
        async with house.db.writing() as tx:
            held = await claim(
                tx, "inbox", owner="dies", now=house.clock(), lease_s=0.001, lane=lines[1].chat.id
            )
        assert held is not None
        await asyncio.sleep(0.01)

    first = await claim_some(house, "inbox", 16)
    rest = await claim_some(house, "inbox", 16)
    assert [each.lane for each in first] == [lines[1].chat.id]
    assert {each.lane for each in rest} == {line.chat.id for line in (lines[0], *lines[2:])}
    assert await claim_some(house, "inbox", 16) == []


async def test_no_more_lanes_are_taken_than_there_is_room_for(house: House) -> None:
    """What is left is for other workers."""
    for each in range(3):
        line = await open_line(house, person=f"p{each}", channel="terminal")
        await accept(house, line, Said(text="Hello!"), to_answer=False)

    assert len(await claim_some(house, "inbox", 2)) == 2
    assert len(await claim_some(house, "inbox", 2)) == 1


async def test_background_work_lets_a_busy_process_answer_first() -> None:
    """It is patient for so long, and no longer."""
    stopping = asyncio.Event()

    async def keep_busy() -> None:
        while not stopping.is_set():
            time.sleep(BREATH_S * 2)  # noqa: ASYNC251 - as a turn that computes
            await asyncio.sleep(0)

    now = asyncio.get_running_loop().time
    began = now()
    await until_calm(asyncio.Event())
    calm_s = now() - began
    async with asyncio.TaskGroup() as others:
        others.create_task(keep_busy())
        began = now()
        await until_calm(asyncio.Event())
        busy_s = now() - began
        stopping.set()

    assert calm_s < PATIENCE_S <= busy_s
