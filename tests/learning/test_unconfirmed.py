"""A claim in doubt is neither believed nor lost: it waits for the person's word."""

import json
from typing import Any, Final

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.beliefs.correct import apply_belief_action
from oldfriend.beliefs.queries import list_beliefs, list_beliefs_at, list_unconfirmed
from oldfriend.domain.clock import DAY
from oldfriend.domain.memories import StoredBelief
from oldfriend.forgetting.delete import forget
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.learning.learning_scheduler import consolidate_segment, schedule_learning
from oldfriend.llm.model import CompletionRequest
from oldfriend.llm.scripted import ScriptedModel, ScriptedReply
from oldfriend.memory.belief_views import list_memories
from oldfriend.memory.consolidation_undo import undo_consolidation
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.expiry import expire_overdue, find_next_expiry
from oldfriend.memory.journal import list_object_journal, list_view_mismatches
from oldfriend.memory.message_log import edit_message
from oldfriend.memory.segments import list_segment_messages, list_segments, reopen_segments
from oldfriend.replies.reply_worker import answer_message
from oldfriend_evals.model_roles import with_models
from tests.clock import FrozenClock

DREAM: Final = "I dreamed that I moved to Porto."
PLAIN: Final = "I moved to Porto, to a flat by the river."
HOME: Final = {"text": "Lives in Porto.", "key": "location", "value": "Porto"}


def read_home(message: str, quote: str, **changes: Any) -> ScriptedReply:
    """What a model reads that takes everything at its word."""
    claim = {**HOME, "quotes": [{"message": message, "text": quote}], **changes}
    checked = {"missed_peak": "none", "attribution": "own"}
    return ScriptedReply(text=json.dumps({"self_check": checked, "facts": [claim]}))


async def tell(
    app: AppContext, chat_context: ChatContext, *texts: str, quote: str = "", **changes: str
) -> None:
    """Say some things to a model that believes the last of them, and have them read."""

    def read_it(request: CompletionRequest) -> ScriptedReply:
        if request.purpose != "extract":
            return ScriptedReply(text="{}")
        return read_home(f"m{2 * len(texts) - 1}", quote or texts[-1].rstrip("."), **changes)

    replies = ScriptedModel(["Nice."] * len(texts))
    by_model = with_models(app, {"main": replies, "small": ScriptedModel(read_it)})
    for text in texts:
        await answer_message(by_model, chat_context, MessageSubmission(text=text))
    await read(by_model, chat_context)


async def read(app: AppContext, chat_context: ChatContext) -> None:
    """Read whatever there is."""
    for segment in await schedule_learning(
        app.db, app.clock, app.settings, chat_context.person.id, cut_reason="asked"
    ):
        await consolidate_segment(app, chat_context.person.id, segment.id)


async def list_waiting(app: AppContext, chat_context: ChatContext) -> list[StoredBelief]:
    """What waits; what is stored is what was decided."""
    async with app.db.begin_read() as tx:
        assert await list_view_mismatches(tx, chat_context.person.id) == []
        found = await list_unconfirmed(tx, chat_context.person.id)
    assert all(each.evidence for each in found)
    return [each.content for each in found if isinstance(each.content, StoredBelief)]


async def list_homes(app: AppContext, chat_context: ChatContext, *, live: bool = True) -> list[str]:
    """Where the person lives, as it is believed."""
    async with app.db.begin_read() as tx:
        found = await list_beliefs(tx, chat_context.person.id, kinds=["fact"], live=live)
    contents = [each.content for each in found if isinstance(each.content, StoredBelief)]
    return [each.value for each in contents if each.key == "location"]


async def test_what_a_model_reads_in_a_dream_waits_and_is_told_nowhere(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Not as current, as past, on any day, nor in an answer."""
    await tell(app, chat_context, DREAM)
    clock.tick(minutes=1)

    (waiting,) = await list_waiting(app, chat_context)
    assert (waiting.text, waiting.status) == ("Lives in Porto.", "unconfirmed")
    assert await list_homes(app, chat_context, live=False) == []
    async with app.db.begin_read() as tx:
        assert await list_beliefs_at(tx, chat_context.person.id, clock()) == []
        index = await app.index_cache.get_belief_index(tx, chat_context.person.id)
        assert list(index.known) == []  # so it is in no answer, prompt or profile


async def test_confirmed_claim_is_believed_with_its_words(
    app: AppContext, chat_context: ChatContext
) -> None:
    """By the person, so that nothing overrules it."""
    await tell(app, chat_context, DREAM)
    (waiting,) = await list_waiting(app, chat_context)

    (confirmed,) = await apply_belief_action(
        app.db, app.clock, chat_context.person.id, "confirm", waiting.id
    )

    assert isinstance(confirmed, StoredBelief)
    assert (confirmed.status, confirmed.is_by_person, confirmed.is_live) == ("active", True, True)
    assert await list_homes(app, chat_context) == ["Porto"]
    assert await list_waiting(app, chat_context) == []


async def test_confirming_a_value_ends_the_one_it_replaces(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """And not before: as long as it waits, nothing has changed."""
    await tell(app, chat_context, PLAIN)
    clock.tick(minutes=60 * 24)
    faro = {"text": "Lives in Faro.", "value": "Faro"}
    await tell(app, chat_context, "I dreamed that I moved to Faro.", **faro)
    (waiting,) = await list_waiting(app, chat_context)
    assert await list_homes(app, chat_context) == ["Porto"]
    clock.tick(minutes=1)

    await apply_belief_action(app.db, app.clock, chat_context.person.id, "confirm", waiting.id)
    assert await list_homes(app, chat_context) == ["Faro"]
    assert sorted(await list_homes(app, chat_context, live=False)) == ["Faro", "Porto"]


async def test_rejected_claim_does_not_keep_the_same_from_being_believed(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Once new words say it without doubt."""
    await tell(
        app, chat_context, "I moved to Faro, to a flat by the river.", quote="I moved to Faro"
    )
    assert await list_homes(app, chat_context) == []  # the model says Porto, and the words say Faro
    (wrong,) = await list_waiting(app, chat_context)
    await apply_belief_action(app.db, app.clock, chat_context.person.id, "reject", wrong.id)
    clock.tick(minutes=60 * 24)
    await tell(app, chat_context, PLAIN)
    assert await list_homes(app, chat_context) == ["Porto"]


async def test_rejected_claim_does_not_wait_when_it_is_said_again_in_doubt(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """In other words, on another day."""
    await tell(app, chat_context, DREAM)
    (waiting,) = await list_waiting(app, chat_context)
    await apply_belief_action(app.db, app.clock, chat_context.person.id, "reject", waiting.id)
    clock.tick(minutes=60 * 24)
    await tell(app, chat_context, "Last night I dreamed again that I moved to Porto.")

    assert await list_waiting(app, chat_context) == []


async def test_rejected_claim_does_not_wait_again(
    app: AppContext, chat_context: ChatContext
) -> None:
    """However often its conversation is read; taken back, it waits as before."""
    await tell(app, chat_context, DREAM)
    (waiting,) = await list_waiting(app, chat_context)
    await apply_belief_action(app.db, app.clock, chat_context.person.id, "reject", waiting.id)
    await apply_belief_action(app.db, app.clock, chat_context.person.id, "unreject", waiting.id)
    assert [each.id for each in await list_waiting(app, chat_context)] == [waiting.id]

    await apply_belief_action(app.db, app.clock, chat_context.person.id, "reject", waiting.id)
    await read_again(app, chat_context)
    assert await list_waiting(app, chat_context) == []
    assert await list_homes(app, chat_context) == []


async def read_again(app: AppContext, chat_context: ChatContext) -> None:
    """Read the only conversation once more, as the model did before."""

    def read_it(request: CompletionRequest) -> ScriptedReply:
        is_reading = request.purpose == "extract"
        return read_home("m1", DREAM.rstrip(".")) if is_reading else ScriptedReply(text="{}")

    by_model = with_models(app, {"main": ScriptedModel([]), "small": ScriptedModel(read_it)})
    async with app.db.begin_write() as tx:
        (segment,) = await list_segments(tx, chat_context.person.id)
        message, *_ = await list_segment_messages(tx, segment)
        await reopen_segments(tx, chat_context.person.id, [message.id])
    await consolidate_segment(by_model, chat_context.person.id, segment.id)


async def test_claim_waits_once(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Read again, or said again in doubt, it has more evidence."""
    await tell(app, chat_context, DREAM)
    (first,) = await list_waiting(app, chat_context)
    await read_again(app, chat_context)
    clock.tick(minutes=60 * 24)
    await tell(app, chat_context, "Last night I dreamed again that I moved to Porto.")

    (waiting,) = await list_waiting(app, chat_context)
    assert waiting.id == first.id
    async with app.db.begin_read() as tx:
        (found,) = await list_unconfirmed(tx, chat_context.person.id)
    assert len(found.evidence) == len(["the first night", "the second"])


async def test_same_claim_without_doubt_is_believed_and_no_longer_waits(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """It rests on the message that says so."""
    await tell(app, chat_context, DREAM)
    (first,) = await list_waiting(app, chat_context)
    clock.tick(minutes=60 * 24)
    await tell(app, chat_context, PLAIN)

    assert await list_waiting(app, chat_context) == []
    assert await list_homes(app, chat_context) == ["Porto"]
    async with app.db.begin_read() as tx:
        ops = [each.op for each in await list_object_journal(tx, chat_context.person.id, first.id)]
    assert ops == ["proposed", "withdrawn"]


async def test_what_is_believed_does_not_wait(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Nor does a doubtful message count as evidence for it."""
    await tell(app, chat_context, PLAIN)
    clock.tick(minutes=60 * 24)
    await tell(app, chat_context, DREAM)

    assert await list_waiting(app, chat_context) == []
    async with app.db.begin_read() as tx:
        (home,) = await list_beliefs(tx, chat_context.person.id, kinds=["fact"])
    assert len(home.evidence) == 1


async def test_claim_goes_with_its_reading(app: AppContext, chat_context: ChatContext) -> None:
    """Undone, or read anew after the message was edited."""
    await tell(app, chat_context, DREAM)
    (waiting,) = await list_waiting(app, chat_context)
    async with app.db.begin_write() as tx:
        (segment,) = await list_segments(tx, chat_context.person.id)
        await undo_consolidation(tx, chat_context.person.id, segment.id, now=app.clock())

    assert await list_waiting(app, chat_context) == []
    async with app.db.begin_read() as tx:
        (withdrawn,) = await list_memories(tx, chat_context.person.id, live=False)
    assert (withdrawn.memory.id, withdrawn.memory.status) == (waiting.id, "withdrawn")


async def test_claim_goes_when_its_message_says_something_else(
    app: AppContext, chat_context: ChatContext
) -> None:
    """The new words are read instead."""
    await tell(app, chat_context, DREAM)
    async with app.db.begin_write() as tx:
        (segment,) = await list_segments(tx, chat_context.person.id)
        message, *_ = await list_segment_messages(tx, segment)
        await edit_message(
            tx, chat_context.person.id, message.id, "I slept badly.", now=app.clock()
        )
        await reopen_segments(tx, chat_context.person.id, [message.id])
    nothing = ScriptedReply(
        text=json.dumps({"self_check": {"missed_peak": "none", "attribution": "own"}})
    )
    by_model = with_models(
        app, {"main": ScriptedModel([]), "small": ScriptedModel(lambda _request: nothing)}
    )
    await consolidate_segment(by_model, chat_context.person.id, segment.id)

    assert await list_waiting(app, chat_context) == []


async def test_claim_is_forgotten_with_its_message(
    app: AppContext, chat_context: ChatContext
) -> None:
    """And nothing is left of it."""
    await tell(app, chat_context, DREAM)
    async with app.db.begin_read() as tx:
        (segment,) = await list_segments(tx, chat_context.person.id)
        message, *_ = await list_segment_messages(tx, segment)
    report = await forget(app, chat_context.person.id, DeletionRequest(ids=(message.id,)))

    assert report.is_proved
    async with app.db.begin_read() as tx:
        assert await list_memories(tx, chat_context.person.id, live=False) == []


async def test_claim_waits_for_sixty_days(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Then it is withdrawn, and not told either."""
    await tell(app, chat_context, DREAM)
    async with app.db.begin_read() as tx:
        due_at = await find_next_expiry(tx, chat_context.person.id)
    assert due_at is not None
    assert 0 < due_at - clock() - 60 * DAY < DAY
    async with app.db.begin_write() as tx:
        assert await expire_overdue(tx, chat_context.person.id, now=due_at - 2) == []
    assert await list_waiting(app, chat_context)
    async with app.db.begin_write() as tx:
        await expire_overdue(tx, chat_context.person.id, now=due_at)

    assert await list_waiting(app, chat_context) == []
    assert await list_homes(app, chat_context, live=False) == []


async def test_oldest_goes_when_too_much_waits(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So that the list stays one that somebody looks through."""
    monkeypatch.setattr("oldfriend.memory.expiry.MAX_UNCONFIRMED", 1)
    await tell(app, chat_context, DREAM)
    clock.tick(minutes=60 * 24)

    def read_it(request: CompletionRequest) -> ScriptedReply:
        if request.purpose != "extract":
            return ScriptedReply(text="{}")
        other = {"text": "Works as a baker.", "key": "job", "value": "baker"}
        return read_home("m1", "I dreamed that I was a baker", **other)

    by_model = with_models(app, {"main": ScriptedModel(["Oh."]), "small": ScriptedModel(read_it)})
    await answer_message(
        by_model, chat_context, MessageSubmission(text="I dreamed that I was a baker.")
    )
    await read(by_model, chat_context)

    assert [each.text for each in await list_waiting(app, chat_context)] == ["Works as a baker."]
