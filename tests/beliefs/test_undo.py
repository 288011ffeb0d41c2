"""What is taken back goes alone: what it had overtaken holds again, unless something else does."""

from dataclasses import replace

from oldfriend.app.app_context import AppContext
from oldfriend.beliefs.correct import apply_belief_action
from oldfriend.beliefs.undo import undo_segment
from oldfriend.domain.clock import DAY
from oldfriend.domain.memories import Memory
from oldfriend.forgetting.forget import forget
from oldfriend.inbound.accept import ChatContext, MessageSubmission, accept_edit
from oldfriend.learning.consolidate import consolidate
from oldfriend.learning.extraction import Claim, EntityMention, Extraction, ExtractionInput, Quote
from oldfriend.learning.extractor_factory import build_consolidation_deps
from oldfriend.learning.learning_scheduler import consolidate_segment, schedule_learning
from oldfriend.learning.re_extraction import plan_reextraction
from oldfriend.memory.beliefs import list_entities
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.messages import list_messages
from oldfriend.memory.segments import Segment, list_segments, reopen_segment
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.learn_now import learn_now
from tests.beliefs.life import believed, tell, the_one
from tests.clock import FrozenClock

MONTH = 60 * 24 * 30


async def homes(app: AppContext, line: ChatContext) -> dict[str, str]:
    """Where somebody lives, or did; "-" where that was never so."""
    return {
        each.content.value: each.content.status
        if each.content.status != "active" or each.content.ended_at is None
        else "-"
        for each in await believed(app, line, live=False)
        if isinstance(each.content, Memory) and each.content.key == "location"
    }


async def moves(app: AppContext, line: ChatContext, clock: FrozenClock, *places: str) -> None:
    """Somebody lives here, then there, a month each."""
    for place in places:
        await tell(app, line, [f"I live in {place}."])
        clock.tick(minutes=MONTH)


async def segments(app: AppContext, line: ChatContext) -> list[Segment]:
    """What was read, in order."""
    async with app.db.begin_read() as tx:
        return await list_segments(tx, line.person.id)


async def undo(app: AppContext, line: ChatContext, number: int) -> None:
    """Take back one reading."""
    await undo_segment(app.db, app.clock, line.person.id, (await segments(app, line))[number].id)


async def id_of(app: AppContext, line: ChatContext, words: str) -> str:
    """The message of the person in which these words stand."""
    async with app.db.begin_read() as tx:
        said = await list_messages(tx, line.person.id)
    return next(each.id for each in said if words in each.text and each.role == "person")


async def test_undoing_a_reading_in_the_middle_closes_the_gap(
    app: AppContext, line: ChatContext, clock: FrozenClock
) -> None:
    """The value before it was so until the next one began, and is never one of two that hold."""
    await moves(app, line, clock, "Lisbon", "Porto", "Braga")
    await undo(app, line, 1)

    assert await homes(app, line) == {"Lisbon": "superseded", "Porto": "-", "Braga": "active"}
    times = {
        each.content.value: (each.content.holds_from, each.content.holds_until)
        for each in await believed(app, line, live=False)
        if isinstance(each.content, Memory) and each.content.key == "location"
    }
    assert times["Lisbon"][1] == times["Braga"][0]


async def test_undoing_the_last_one_after_that_brings_back_the_first(
    app: AppContext, line: ChatContext, clock: FrozenClock
) -> None:
    """Whatever stood between them."""
    await moves(app, line, clock, "Lisbon", "Porto", "Braga")
    await undo(app, line, 1)
    await undo(app, line, 2)

    assert await homes(app, line) == {"Lisbon": "active", "Porto": "-", "Braga": "-"}


async def test_undoing_the_last_first_brings_back_one_by_one(
    app: AppContext, line: ChatContext, clock: FrozenClock
) -> None:
    """Each as it was before."""
    await moves(app, line, clock, "Lisbon", "Porto", "Braga")
    await undo(app, line, 2)
    assert await homes(app, line) == {"Lisbon": "superseded", "Porto": "active", "Braga": "-"}
    await undo(app, line, 1)
    assert await homes(app, line) == {"Lisbon": "active", "Porto": "-", "Braga": "-"}


async def test_undoing_words_from_long_ago_brings_back_nothing_that_is_over(
    app: AppContext, line: ChatContext, clock: FrozenClock
) -> None:
    """They had only told since when the home before was one; which stays the home before."""
    long_ago = clock.now - 20 * 365 * DAY
    await moves(app, line, clock, "Lisbon", "Porto")
    await answer_message(app, line, MessageSubmission(text="I live in Braga.", at=long_ago))
    await learn_now(app, line.person.id, cut_reason="asked")
    assert (await homes(app, line))["Braga"] == "superseded"
    await undo(app, line, 0)

    assert await homes(app, line) == {"Lisbon": "superseded", "Porto": "active", "Braga": "-"}
    await undo(app, line, 2)

    assert await homes(app, line) == {"Lisbon": "active", "Porto": "-", "Braga": "-"}


async def test_what_was_rejected_and_confirmed_holds_alone(
    app: AppContext, line: ChatContext, clock: FrozenClock
) -> None:
    """What had come back in its place gives way to it, and comes back when it goes again."""
    await moves(app, line, clock, "Lisbon", "Porto")
    porto = await the_one(app, line, "Porto")
    await apply_belief_action(app.db, app.clock, line.person.id, "reject", porto)
    await apply_belief_action(app.db, app.clock, line.person.id, "confirm", porto)
    assert await homes(app, line) == {"Lisbon": "superseded", "Porto": "active"}
    await apply_belief_action(app.db, app.clock, line.person.id, "reject", porto)
    assert await homes(app, line) == {"Lisbon": "active", "Porto": "rejected"}


async def test_what_several_may_hold_of_comes_back_beside_others(
    app: AppContext, line: ChatContext, clock: FrozenClock
) -> None:
    """One who likes chess may like coffee again."""
    for text in ("I love coffee.", "I can't stand coffee.", "I love chess."):
        await tell(app, line, [text])
        clock.tick(minutes=MONTH)
    await undo(app, line, 1)

    liked = {
        each.content.value
        for each in await believed(app, line)
        if isinstance(each.content, Memory) and each.content.key == "interests"
    }
    assert liked == {"coffee", "chess"}


def claim(material: ExtractionInput, text: str, words: str, **fields: object) -> Claim:
    """Something read out of the message in which these words stand."""
    (said,) = [each for each in material.messages if words in each.text and each.role == "person"]
    quotes = (Quote(message=said.id, text=words),)
    return Claim(text=text, quotes=quotes, **fields)


async def read_as(app: AppContext, line: ChatContext, text: str, **fields: object) -> Segment:
    """Say something, and have a model read one thing in it, with whoever is named."""
    await answer_message(app, line, MessageSubmission(text=text))
    (segment,) = await schedule_learning(
        app.db, app.clock, app.settings, line.person.id, cut_reason="asked"
    )
    aliases = fields.pop("aliases", ())

    async def by_model(material: ExtractionInput) -> Extraction:
        told = claim(material, str(fields.pop("told")), str(fields.pop("words")), **fields)
        named = EntityMention(name="Robert", kind="person", quotes=told.quotes, aliases=aliases)
        is_named = "Robert" in text
        return Extraction(author="extract/2", claims=(told,), mentions=(named,) if is_named else ())

    means = await build_consolidation_deps(app, segment)
    await consolidate(replace(means, extract=by_model, extract_small_talk=by_model), segment)
    return segment


async def test_what_a_reading_had_revised_is_as_it_was_before(
    app: AppContext, line: ChatContext, clock: FrozenClock
) -> None:
    """How strongly something was felt, when it is due, and by which names somebody goes."""
    promise = "Promised Robert to paint his fence."
    words = "I will paint his fence"
    await read_as(
        app,
        line,
        f"Robert came by today. {words}, I promised.",
        told=promise,
        words=words,
        kind="commitment",
        due_at=clock.now + 5 * DAY,
    )
    due = clock.now + 5 * DAY
    clock.tick(minutes=60 * 24)
    later = await read_as(
        app,
        line,
        f"Robert, whom they call Bozo, came again. {words} in summer.",
        told=promise,
        words=words,
        kind="commitment",
        due_at=clock.now + 40 * DAY,
        aliases=("Bozo",),
    )
    async with app.db.begin_read() as tx:
        (robert,) = await list_entities(tx, line.person.id)
    assert robert.aliases == ("Bozo",)
    await undo_segment(app.db, app.clock, line.person.id, later.id)

    (kept,) = [
        each.content for each in await believed(app, line) if isinstance(each.content, Memory)
    ]
    assert kept.due_at == due
    async with app.db.begin_read() as tx:
        (robert,) = await list_entities(tx, line.person.id)
    assert robert.aliases == ()


async def test_earlier_words_do_not_overrule_what_the_person_confirmed(
    app: AppContext, line: ChatContext, clock: FrozenClock
) -> None:
    """Though they are read later; words of afterwards do."""
    await tell(app, line, ["I live in Porto."])
    clock.tick(minutes=600)
    await answer_message(app, line, MessageSubmission(text="I live in Lisbon."))
    clock.tick(minutes=1)
    await apply_belief_action(
        app.db, app.clock, line.person.id, "confirm", await the_one(app, line, "Porto")
    )
    clock.tick(minutes=60)
    await tell(app, line, [])
    assert await homes(app, line) == {"Porto": "active", "Lisbon": "superseded"}

    await tell(app, line, ["I live in Braga."])
    assert (await homes(app, line))["Braga"] == "active"


async def test_no_sign_makes_doubtful_what_the_person_confirmed(
    app: AppContext, line: ChatContext, clock: FrozenClock
) -> None:
    """However often there is one."""
    habit, words = "Goes running by the river often.", "I go running by the river"
    await read_as(
        app,
        line,
        f"{words} every morning before work.",
        told=habit,
        words=words,
        kind="pattern",
        pattern="behavior",
    )
    (one,) = [
        each.content for each in await believed(app, line) if isinstance(each.content, Memory)
    ]
    await apply_belief_action(app.db, app.clock, line.person.id, "confirm", one.id)
    for day in ("Monday", "Tuesday", "Friday"):
        clock.tick(minutes=60 * 24)
        sign = f"On {day} I took the tram by the river"
        await read_as(
            app,
            line,
            f"{sign}, it was raining all day long.",
            told=habit,
            words=sign,
            kind="pattern",
            pattern="behavior",
            effect="contradicts",
            target=one.id,
            signal="implicit",
            confidence=0.65,
        )

    (still,) = [each for each in await believed(app, line) if each.content.id == one.id]
    assert isinstance(still.content, Memory)
    assert (still.content.status, len(still.evidence)) == ("active", 1)


async def test_what_was_taken_back_is_not_read_again_by_itself(
    app: AppContext, line: ChatContext, clock: FrozenClock
) -> None:
    """Not when something in it is forgotten, nor by a model; when something is edited, it is."""
    await tell(app, line, ["I live in Porto.", "I love jazz.", "The milk is in the fridge now."])
    await undo_segment(app.db, app.clock, line.person.id, None)
    assert (await plan_reextraction(app.db, app.settings, line.person.id)).segments == ()
    (segment,) = await segments(app, line)
    assert await consolidate_segment(app, line.person.id, segment.id, extractor="model") is None

    await forget(app, line.person.id, DeletionRequest(ids=(await id_of(app, line, "milk"),)))
    await tell(app, line, [])
    assert await homes(app, line) == {"Porto": "-"}
    assert [each.status for each in await segments(app, line)] == ["taken back"]

    await accept_edit(app, line, await id_of(app, line, "Porto"), "I live in Faro.")
    await tell(app, line, [])
    assert (await homes(app, line))["Faro"] == "active"


async def test_forgetting_brings_back_what_it_had_overtaken(
    app: AppContext, line: ChatContext, clock: FrozenClock
) -> None:
    """The newest goes: the one before holds again."""
    await moves(app, line, clock, "Lisbon", "Porto")
    await forget(app, line.person.id, DeletionRequest(ids=(await id_of(app, line, "Porto"),)))
    await tell(app, line, [])

    assert await homes(app, line) == {"Lisbon": "active"}


async def test_forgetting_in_the_middle_closes_the_gap(
    app: AppContext, line: ChatContext, clock: FrozenClock
) -> None:
    """One holds, and when that is forgotten, too, the first does."""
    await moves(app, line, clock, "Lisbon", "Porto", "Braga")
    await forget(app, line.person.id, DeletionRequest(ids=(await id_of(app, line, "Porto"),)))
    await tell(app, line, [])
    assert await homes(app, line) == {"Lisbon": "superseded", "Braga": "active"}

    await forget(app, line.person.id, DeletionRequest(ids=(await id_of(app, line, "Braga"),)))
    await tell(app, line, [])
    assert await homes(app, line) == {"Lisbon": "active"}


async def test_an_edit_brings_back_what_the_words_had_overtaken(
    app: AppContext, line: ChatContext, clock: FrozenClock
) -> None:
    """Whatever is said there instead."""
    await moves(app, line, clock, "Lisbon", "Porto")
    said = await id_of(app, line, "Porto")
    await accept_edit(app, line, said, "I had a lovely walk today.")
    await tell(app, line, [])
    assert await homes(app, line) == {"Lisbon": "active", "Porto": "-"}

    clock.tick(minutes=1)
    await accept_edit(app, line, said, "I live in Faro.")
    await tell(app, line, [])
    assert await homes(app, line) == {"Lisbon": "superseded", "Porto": "-", "Faro": "active"}


async def test_reading_anew_without_an_edit_brings_nothing_back(
    app: AppContext, line: ChatContext, clock: FrozenClock
) -> None:
    """What overtook it still stands."""
    await moves(app, line, clock, "Lisbon", "Porto", "Braga")
    for segment in await segments(app, line):
        async with app.db.begin_write() as tx:
            again = await reopen_segment(tx, segment)
        await consolidate_segment(app, line.person.id, again.id)
        assert await homes(app, line) == {
            "Lisbon": "superseded",
            "Porto": "superseded",
            "Braga": "active",
        }
