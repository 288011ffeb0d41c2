"""The checklist: looked at by the clock, by a model, through the gates of speaking first."""

from dataclasses import replace

import pytest
from typing_extensions import override

from oldfriend.app.app_context import AppContext
from oldfriend.domain.clock import MINUTE
from oldfriend.forgetting.delete import forget
from oldfriend.inbound.accept import ChatContext
from oldfriend.llm.model import Completion, CompletionRequest, TextCallback
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.receipts import find_receipt
from oldfriend.presenters.receipt_schemas import receipt_as_text
from oldfriend.presenters.resolved_receipts import resolve_receipt
from oldfriend.proactive.checklist import Checklist, collect_checklist, parse_checklist
from oldfriend.proactive.impulse_store import StoredImpulse
from oldfriend.proactive.proactive_settings import load_proactive_settings
from oldfriend.replies.proactive_wording import word_by_phrase
from oldfriend.turn.request_handlers.checklist_requests import apply_words
from tests.clock import FrozenClock
from tests.learning.test_learning_scheduler import with_model
from tests.proactive.lived_time import at, list_decided, list_unasked, live_until, tell

DAY = "2026-11-18"
LINE = "Is an exam near?"


async def live_with(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    *answers: str,
    until: str = "12:10",
) -> ScriptedModel:
    """A morning with a list, and a model that answers so when it looks."""
    clock.now = at("2026-11-17T15:00")
    await tell(app, clock, chat_context, at("2026-11-17T15:00"), "My exam is on November 20th.")
    await tell(
        app,
        clock,
        chat_context,
        at("2026-11-17T15:05"),
        "Remind me on 19 November at 15:00 to call Eva",
    )
    await tell(app, clock, chat_context, at(f"{DAY}T09:10"), f"/heartbeat add {LINE}")
    left = [*answers]

    def answer(request: CompletionRequest) -> str:
        is_look = request.prompt == "checklist/2" and len(left) > 1
        return left.pop(0) if is_look else left[0]

    model = ScriptedModel(answer)
    await live_until(with_model(app, "main", model), clock, at(f"{DAY}T{until}"))
    return model


async def test_list_is_looked_at_each_half_hour_and_what_is_found_is_told(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """ACCEPTANCE L10: HEARTBEAT_OK says nothing; a receipt tells why it was written."""
    found = "Your exam is in two days, on 20 November.\nHEARTBEAT_OK"
    model = await live_with(app, chat_context, clock, "HEARTBEAT_OK", found, "HEARTBEAT_OK")

    (said,) = await list_unasked(app, chat_context)
    assert said.at == at(f"{DAY}T10:00")
    assert said.text == "Your exam is in two days, on 20 November."
    looks = [each for each in model.requests if each.prompt == "checklist/2"]
    assert len(looks) == 2  # and none within four hours after it wrote
    asked = looks[0].turns[-1].text
    assert LINE in asked
    assert "My exam is on November 20th." in asked
    assert "2026-11-19 15:00 call Eva" in asked
    assert "2026-11-18 09:30 (Wednesday)" in asked
    async with app.db.begin_read() as tx:
        receipt = await find_receipt(tx, chat_context.person.id, said.id)
        assert receipt is not None
        text = receipt_as_text(await resolve_receipt(tx, receipt))
    assert "You keep a list" in text
    reasons = {
        each.impulse.key: each.decisions[-1][1].reason
        for each in await list_decided(app, chat_context)
    }
    assert reasons[f"checklist:{DAY}T09:30"] == "no_reply"
    assert reasons[f"checklist:{DAY}T10:00"] == "trigger"


@pytest.mark.parametrize(
    "answer",
    [
        "HEARTBEAT_OK - nothing needs a word.",
        "HEARTBEAT_OK!",
        "`HEARTBEAT_OK`",
        "“heartbeat_ok”",
        "```\nHEARTBEAT_OK\n```",
        "> HEARTBEAT_OK (nothing to report)",
        "Nothing is due. HEARTBEAT_OK",
    ],
)
async def test_what_says_that_nothing_is_is_not_sent(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, answer: str
) -> None:
    """However a model writes it."""
    model = await live_with(app, chat_context, clock, answer, until="09:40")
    assert [each.prompt for each in model.requests].count("checklist/2") == 1
    assert await list_unasked(app, chat_context) == []


async def test_list_that_stays_silent_keeps_nothing_else_silent(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """A goal is asked about at its time, though the list is looked at each half hour."""
    await tell(app, clock, chat_context, at("2026-11-18T15:00"), "My goal is to run twice a week.")
    await tell(app, clock, chat_context, at("2026-11-18T15:05"), f"/heartbeat add {LINE}")
    model = ScriptedModel(
        lambda request: "HEARTBEAT_OK" if request.prompt == "checklist/2" else "How is running?"
    )
    await live_until(with_model(app, "main", model), clock, at("2026-11-26T18:20"))

    (said,) = await list_unasked(app, chat_context)
    assert (said.at, said.text) == (at("2026-11-26T18:00"), "How is running?")


async def test_beliefs_are_read_for_a_model_alone(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Not while others wait to write, and not where nobody looks."""
    await tell(app, clock, chat_context, at("2026-11-17T15:00"), "My exam is on November 20th.")
    await tell(app, clock, chat_context, at(f"{DAY}T09:10"), f"/heartbeat add {LINE}")
    impulse = next(collect_checklist(chat_context.person, Checklist(lines=(LINE,)), now=clock()))
    stored = StoredImpulse(
        id="look",
        impulse=impulse,
        status="waiting",
        made_at=clock(),
        decided_at=None,
        message=None,
        decisions=(),
    )
    async with app.db.begin_read() as tx:
        plain = await word_by_phrase(tx, chat_context.person, stored, now=clock())
    assert plain is not None
    assert (plain.checklist, plain.records, plain.text) == ((LINE,), (), "")


async def test_what_is_forgotten_during_a_look_is_not_told(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """A model was shown it, and writes of it nevertheless."""
    told = await tell(
        app, clock, chat_context, at("2026-11-17T15:00"), "My exam is on November 20th."
    )
    await tell(app, clock, chat_context, at(f"{DAY}T09:10"), f"/heartbeat add {LINE}")

    class SlowModel(ScriptedModel):
        @override
        async def complete(
            self, request: CompletionRequest, on_text: TextCallback | None = None
        ) -> Completion:
            if not self.requests:
                await forget(app, chat_context.person.id, DeletionRequest(ids=(told.message.id,)))
            return await super().complete(request, on_text)

    model = SlowModel(["Your exam is in two days.", "HEARTBEAT_OK"])
    await live_until(with_model(app, "main", model), clock, at(f"{DAY}T12:10"))
    asked = [each.turns[-1].text for each in model.requests if each.prompt == "checklist/2"]
    assert ["November 20th" in each for each in asked][:2] == [True, False]
    assert await list_unasked(app, chat_context) == []


async def test_no_model_is_asked_in_quiet_hours_or_for_an_empty_list(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """ACCEPTANCE L10: from 8 to 22 by the clock of the person, as for all that is unasked."""
    model = await live_with(app, chat_context, clock, "HEARTBEAT_OK", until="23:59")
    looks = [each for each in model.requests if each.prompt == "checklist/2"]
    assert len(looks) == 25  # from 9:30 to 21:30

    await tell(app, clock, chat_context, at("2026-11-19T08:45"), "/heartbeat off")
    count = len(model.requests)
    await live_until(with_model(app, "main", model), clock, at("2026-11-19T14:00"))
    assert [each for each in model.requests[count:] if each.prompt == "checklist/2"] == []
    assert await list_unasked(app, chat_context) == []


async def test_without_a_model_nothing_is_said(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Nobody can look; the reply to the command says so."""
    clock.now = at(f"{DAY}T09:05")
    reply = await tell(app, clock, chat_context, at(f"{DAY}T09:05"), f"/heartbeat add {LINE}")
    await live_until(app, clock, at(f"{DAY}T12:10"))

    assert await list_unasked(app, chat_context) == []
    assert "At most every 30 minutes, outside your quiet hours, I look" in reply.reply.text
    assert f"1. {LINE}" in reply.reply.text


async def test_what_is_not_wanted_again_is_wanted_with_a_new_line(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """As any kind of message."""
    clock.now = at(f"{DAY}T09:05")
    await tell(app, clock, chat_context, at(f"{DAY}T09:05"), f"/heartbeat add {LINE}")
    await tell(app, clock, chat_context, at(f"{DAY}T09:06"), "no more heartbeats")
    async with app.db.begin_read() as tx:
        assert (await load_proactive_settings(tx, chat_context.person.id)).muted == {"checklist"}
    await tell(app, clock, chat_context, at(f"{DAY}T09:07"), "/heartbeat add Do I drink enough?")
    async with app.db.begin_read() as tx:
        assert (await load_proactive_settings(tx, chat_context.person.id)).muted == frozenset()


def test_looks_are_aligned_to_the_clock_of_the_person(chat_context: ChatContext) -> None:
    """Also over a change of the clocks; the first is the one whose time it is."""
    person = replace(chat_context.person, zone="Europe/Lisbon")
    hourly = Checklist(lines=(LINE,), minutes=60)
    now = at("2026-10-24T10:20")
    found = list(collect_checklist(person, hourly, now=now))

    assert found[0].key == "checklist:2026-10-24T10:00"
    assert found[0].not_before <= now < found[0].expires_at
    assert len({each.key for each in found}) == len(found) == 38
    assert list(collect_checklist(person, Checklist(), now=now)) == []
    often = list(collect_checklist(person, Checklist(lines=(LINE,), minutes=1), now=now))
    assert often[0].expires_at - often[0].not_before == 30 * MINUTE


@pytest.mark.parametrize(
    ("text", "lines", "minutes"),
    [
        ("", (), 30),
        ("# My list\n\n-  \n", (), 30),
        ("every: 90\n- one\n* two  words\nthree", ("one", "two words", "three"), 90),
        ("Every: 9999\none", ("one",), 1440),
        ("every: 0\none", ("one",), 1),
        ("#1 client mails\n-5 degrees: warn me", ("#1 client mails", "-5 degrees: warn me"), 30),
    ],
)
def test_text_that_somebody_wrote_is_read(text: str, lines: tuple[str, ...], minutes: int) -> None:
    """Headings and empty lines are nothing to look at."""
    found = parse_checklist(text)
    assert (found.lines, found.minutes) == (lines, minutes)
    assert parse_checklist(found.text) == found


@pytest.mark.parametrize("words", ["#1 client mails", "-5 degrees: warn me", "**Eve** calls"])
def test_line_that_was_added_comes_back_as_it_is(words: str) -> None:
    """What is told as kept is kept."""
    found = apply_words(Checklist(), f"add {words}")
    assert found is not None
    assert parse_checklist(found.text).lines == found.lines == (words,)


@pytest.mark.parametrize(
    "words",
    ["add *", "add - exam", "add # exam", "add every: 5", "off exam", f"remove {'9' * 5000}"],
)
def test_what_is_no_line_changes_nothing(words: str) -> None:
    """What would be read otherwise is refused."""
    assert apply_words(Checklist(lines=(LINE,)), words) is None
