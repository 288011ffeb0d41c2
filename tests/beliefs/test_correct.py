"""The person's word about what is believed of them: it holds at once, and for good."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.beliefs.correct import (
    apply_belief_action,
    edit_belief_text,
    merge_beliefs,
    parse_since,
    separate_beliefs,
    undo_segment,
)
from oldfriend.beliefs.queries import (
    get_belief,
    get_history,
    list_beliefs,
    list_beliefs_at,
    list_entity_beliefs,
)
from oldfriend.domain.clock import DAY, SECOND
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.ids import MemoryId, ObjectId
from oldfriend.domain.memories import Entity, MemoryState, StoredBelief
from oldfriend.forgetting.delete import forget
from oldfriend.inbound.accept import ChatContext, MessageSubmission, accept_edit
from oldfriend.learning.consolidate import consolidate
from oldfriend.learning.extraction import Claim, EntityMention, Extraction, ExtractionInput, Quote
from oldfriend.learning.extractor_factory import build_consolidation_deps
from oldfriend.learning.learning_scheduler import consolidate_segment, schedule_learning
from oldfriend.learning.re_extraction import plan_reextraction
from oldfriend.learning.reading_jobs import enqueue_consolidations
from oldfriend.memory.belief_views import get_memory_state, list_entities
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.message_log import list_messages
from oldfriend.memory.segments import Segment, list_segments, reopen_segment
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.learn_now import learn_now, process_due_segments
from oldfriend.search.tense import compute_validity
from tests.beliefs.life import believed, tell, the_one
from tests.clock import FrozenClock

MONTH = 60 * 24 * 30


async def values(app: AppContext, chat_context: ChatContext, key: str) -> set[tuple[str, str]]:
    """What is or was so, with its state."""
    return {
        (each.content.value, each.content.status)
        for each in await believed(app, chat_context, live=False)
        if isinstance(each.content, StoredBelief) and each.content.key == key
    }


def was_so(known: MemoryState, at: int) -> bool:
    """Whether a belief tells of that moment, as far as is known today."""
    begin, until = compute_validity(known)
    so = known.memory.status in {"active", "superseded"}
    return so and begin is not None and begin <= at and (until is None or at < until)


def date_of(at: int) -> str:
    """The day of a moment, as people write it."""
    return datetime.fromtimestamp(at / SECOND, UTC).strftime("%Y-%m-%d")


async def test_edited_value_is_active_and_the_old_one_rejected(
    app: AppContext, chat_context: ChatContext
) -> None:
    """Both are kept: what was believed, and what the person says."""
    await tell(app, chat_context)
    home = await the_one(app, chat_context, "Porto")

    await edit_belief_text(app.db, app.clock, chat_context.person.id, home[-8:], "Lives in Faro.")

    assert await values(app, chat_context, "location") == {
        ("Porto", "rejected"),
        ("Faro", "active"),
    }


async def test_correction_means_the_old_value_never_held(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Two clocks: what was believed then stays on record; the new value was so throughout."""
    await tell(app, chat_context)
    told_at = app.clock()
    home = await the_one(app, chat_context, "Porto")
    clock.tick(minutes=40 * 24 * 60)
    new, old = await edit_belief_text(
        app.db, app.clock, chat_context.person.id, home, "Lives in Faro."
    )
    async with app.db.begin_read() as tx:
        then = await list_beliefs_at(tx, chat_context.person.id, told_at)
        known = [
            await get_memory_state(tx, chat_context.person.id, MemoryId(each.id))
            for each in (new, old)
        ]

    assert {each.content.value for each in then if isinstance(each.content, StoredBelief)} >= {
        "Porto"
    }
    assert [was_so(each, told_at) for each in known] == [True, False]


async def test_change_with_a_since_date_ends_the_old_value_on_that_day(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Until then the old value was so, from then on the new one; not before it began, nor ahead."""
    await tell(app, chat_context)
    home = await the_one(app, chat_context, "Porto")
    clock.tick(minutes=40 * 24 * 60)
    day = parse_since(date_of(app.clock() - 10 * DAY), "UTC")
    for wrong in (app.clock() + DAY, 0):
        with pytest.raises(InvalidInput, match="cannot have changed"):
            await edit_belief_text(
                app.db, app.clock, chat_context.person.id, home, "Lives in Faro.", since=wrong
            )
    with pytest.raises(InvalidInput, match="nothing has changed"):
        await edit_belief_text(
            app.db, app.clock, chat_context.person.id, home, "Has lived in Porto.", since=day
        )

    new, old = await edit_belief_text(
        app.db, app.clock, chat_context.person.id, home, "Lives in Faro.", since=day
    )

    assert isinstance(new, StoredBelief)
    assert isinstance(old, StoredBelief)
    assert (new.holds_from, old.holds_until, old.status) == (day, day, "superseded")


async def test_correcting_a_changed_value_keeps_the_validity_of_the_earlier_one(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Lisbon, then (as it seemed) Porto, in truth Faro: Lisbon was home until Faro was."""
    await tell(app, chat_context)
    home = await the_one(app, chat_context, "Porto")
    clock.tick(minutes=40 * 24 * 60)
    day = app.clock() - 10 * DAY
    lisbon, _ = await edit_belief_text(
        app.db, app.clock, chat_context.person.id, home, "Lives in Lisbon.", since=day
    )
    faro, _ = await edit_belief_text(
        app.db, app.clock, chat_context.person.id, lisbon.id, "Lives in Faro."
    )

    assert isinstance(faro, StoredBelief)
    assert (faro.holds_from, faro.holds_until) == (day, None)
    assert {("Porto", "superseded"), ("Lisbon", "rejected"), ("Faro", "active")} == await values(
        app, chat_context, "location"
    )
    await apply_belief_action(app.db, app.clock, chat_context.person.id, "reject", faro.id)
    assert ("Lisbon", "active") in await values(app, chat_context, "location")


async def test_rewording_a_belief_keeps_its_value(
    app: AppContext, chat_context: ChatContext
) -> None:
    """Nothing is overtaken; it is the person's own now."""
    await tell(app, chat_context)
    home = await the_one(app, chat_context, "Porto")

    (said,) = await edit_belief_text(
        app.db, app.clock, chat_context.person.id, home, "Has lived in Porto for years."
    )

    assert isinstance(said, StoredBelief)
    assert (said.id, said.value, said.is_by_person) == (home, "Porto", True)


async def test_correction_matching_another_belief_merges_the_two(
    app: AppContext, chat_context: ChatContext
) -> None:
    """It is not believed twice; the words of both speak for it."""
    await tell(app, chat_context, ["My cat is called Miso.", "My cat is called Mizo."])
    miso, mizo = await the_one(app, chat_context, "Miso"), await the_one(app, chat_context, "Mizo")
    said, other = await edit_belief_text(
        app.db, app.clock, chat_context.person.id, miso, "Cat: Mizo"
    )
    live = [
        each for each in await believed(app, chat_context) if isinstance(each.content, StoredBelief)
    ]

    assert isinstance(other, StoredBelief)
    assert (said.id, other.id, other.status) == (miso, mizo, "merged")
    assert [each.content.text for each in live if "Cat" in each.content.text] == ["Cat: Mizo"]
    assert len(next(each.evidence for each in live if each.content.id == miso)) == 2


async def test_corrected_belief_links_the_entity_it_names_now(
    app: AppContext, chat_context: ChatContext
) -> None:
    """Not about whom it named before; what it overtakes stays as it was."""
    await tell(app, chat_context, ["My sister Ana is a nurse.", "My friend Bea lives in Faro."])
    async with app.db.begin_read() as tx:
        names = {
            each.content.name: each.content.id
            for each in await list_entity_beliefs(tx, chat_context.person.id)
        }
        told = await list_beliefs(tx, chat_context.person.id)
    about_ana = next(
        each.content
        for each in told
        if isinstance(each.content, StoredBelief) and each.content.entities == (names["Ana"],)
    )
    text = about_ana.text.replace("Ana", "Bea")
    corrected, *_ = await edit_belief_text(
        app.db, app.clock, chat_context.person.id, about_ana.id, text
    )

    assert isinstance(corrected, StoredBelief)
    assert corrected.entities == (names["Bea"],)


async def test_edit_without_a_recognizable_value_requires_an_explicit_value(
    app: AppContext, chat_context: ChatContext
) -> None:
    """Nothing is guessed, and nothing written."""
    await tell(app, chat_context)
    home = await the_one(app, chat_context, "Porto")

    with pytest.raises(InvalidInput, match="--value"):
        await edit_belief_text(app.db, app.clock, chat_context.person.id, home, "By the sea now.")
    await edit_belief_text(
        app.db, app.clock, chat_context.person.id, home, "By the sea now.", value="Faro"
    )

    assert await values(app, chat_context, "location") == {
        ("Porto", "rejected"),
        ("Faro", "active"),
    }


async def test_rejected_belief_is_relearned_only_from_new_messages(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Not from the same words; from new ones it is."""
    await tell(app, chat_context)
    home = await the_one(app, chat_context, "Porto")
    await apply_belief_action(app.db, app.clock, chat_context.person.id, "reject", home)
    async with app.db.begin_read() as tx:
        (segment,) = await list_segments(tx, chat_context.person.id)
    async with app.db.begin_write() as tx:
        await enqueue_consolidations(tx, [await reopen_segment(tx, segment)], now=clock())
    await process_due_segments(app, chat_context.person.id)
    assert await values(app, chat_context, "location") == {("Porto", "rejected")}

    clock.tick(minutes=MONTH)
    await tell(app, chat_context, ["I live in Porto again, since last week."])
    assert ("Porto", "active") in await values(app, chat_context, "location")


async def test_rejecting_a_belief_restores_the_one_it_superseded(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """The old home holds again."""
    await tell(app, chat_context)
    clock.tick(minutes=MONTH)
    await tell(app, chat_context, ["Big news: I moved to Lisbon last week!"])
    lisbon = [
        each.content.id
        for each in await believed(app, chat_context)
        if isinstance(each.content, StoredBelief) and each.content.value == "Lisbon"
    ]
    await apply_belief_action(app.db, app.clock, chat_context.person.id, "reject", lisbon[0])

    assert await values(app, chat_context, "location") == {
        ("Porto", "active"),
        ("Lisbon", "rejected"),
    }


async def test_rejecting_a_belief_restores_what_it_superseded_in_the_same_talk(
    app: AppContext, chat_context: ChatContext
) -> None:
    """Both were read at once, so the old home was never anything but superseded."""
    await tell(app, chat_context, ["I live in Leipzig.", "I moved to Halle last week."])
    (halle,) = [
        each.content.id
        for each in await believed(app, chat_context)
        if isinstance(each.content, StoredBelief) and each.content.value == "Halle"
    ]
    await apply_belief_action(app.db, app.clock, chat_context.person.id, "reject", halle)

    assert await values(app, chat_context, "location") == {
        ("Leipzig", "active"),
        ("Halle", "rejected"),
    }


async def test_confirming_a_rejected_belief_restores_it(
    app: AppContext, chat_context: ChatContext
) -> None:
    """By confirming."""
    await tell(app, chat_context)
    home = await the_one(app, chat_context, "Porto")
    await apply_belief_action(app.db, app.clock, chat_context.person.id, "reject", home)
    await apply_belief_action(app.db, app.clock, chat_context.person.id, "confirm", home)

    assert await values(app, chat_context, "location") == {("Porto", "active")}


async def test_unreject_restores_the_belief_without_confirming_it(
    app: AppContext, chat_context: ChatContext
) -> None:
    """It is no confirmation; what the rejection brought back ends once more."""
    await tell(app, chat_context, ["I have a dog."])
    dog = await the_one(app, chat_context, "dog")
    before = await known_as(app, chat_context, dog)
    await apply_belief_action(app.db, app.clock, chat_context.person.id, "reject", dog)
    await apply_belief_action(app.db, app.clock, chat_context.person.id, "unreject", dog)
    back = await known_as(app, chat_context, dog)
    new, _ = await edit_belief_text(app.db, app.clock, chat_context.person.id, dog, "Has two dogs.")
    await apply_belief_action(app.db, app.clock, chat_context.person.id, "reject", new.id)
    await apply_belief_action(app.db, app.clock, chat_context.person.id, "unreject", new.id)

    assert back == before
    assert not back.is_by_person
    assert await values(app, chat_context, "pets") == {
        ("a dog", "rejected"),
        ("two dogs", "active"),
    }
    with pytest.raises(InvalidInput):
        await apply_belief_action(app.db, app.clock, chat_context.person.id, "unreject", new.id)


async def test_corrected_belief_links_only_entities_named_by_whole_words(
    app: AppContext, chat_context: ChatContext
) -> None:
    """There is an "Al" in "also"."""
    await tell(
        app, chat_context, ["My friend Al is a nurse.", "My sister Ana is a cook.", "I love tea."]
    )
    tea, cook = (
        await the_one(app, chat_context, "tea"),
        await the_one(app, chat_context, "Ana works"),
    )
    (liked,) = await edit_belief_text(
        app.db, app.clock, chat_context.person.id, tea, "Also loves tea.", value="tea"
    )
    (works,) = await edit_belief_text(
        app.db, app.clock, chat_context.person.id, cook, "Ana cooks with Al.", value="a cook"
    )
    async with app.db.begin_read() as tx:
        named = {
            each.content.name: each.content.id
            for each in await list_entity_beliefs(tx, chat_context.person.id)
            if isinstance(each.content, Entity)
        }

    assert isinstance(liked, StoredBelief)
    assert isinstance(works, StoredBelief)
    assert liked.entities == ()
    assert set(works.entities) == {named["Ana"], named["Al"]}


async def test_unreject_is_refused_when_a_newer_value_is_active(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Nobody lives in two places; whoever means it all the same confirms it."""
    await tell(app, chat_context)
    home = await the_one(app, chat_context, "Porto")
    await apply_belief_action(app.db, app.clock, chat_context.person.id, "reject", home)
    clock.tick(minutes=60)
    await tell(app, chat_context, ["I moved to Faro."])

    with pytest.raises(InvalidInput, match="Faro"):
        await apply_belief_action(app.db, app.clock, chat_context.person.id, "unreject", home)
    assert await values(app, chat_context, "location") == {
        ("Porto", "rejected"),
        ("Faro", "active"),
    }


async def known_as(app: AppContext, chat_context: ChatContext, memory: str) -> StoredBelief:
    """A memory as it is believed now."""
    async with app.db.begin_read() as tx:
        return (
            await get_memory_state(tx, chat_context.person.id, MemoryId(ObjectId(memory)))
        ).memory


async def test_confirming_a_rejected_correction_supersedes_the_old_value_again(
    app: AppContext, chat_context: ChatContext
) -> None:
    """What was brought back has ended as before; its history tells both, and until when."""
    await tell(app, chat_context, ["I have a dog."])
    dog = await the_one(app, chat_context, "dog")
    new, _ = await edit_belief_text(app.db, app.clock, chat_context.person.id, dog, "Has two dogs.")
    before = await values(app, chat_context, "pets")
    await apply_belief_action(app.db, app.clock, chat_context.person.id, "reject", new.id)
    assert {
        what for what, status in await values(app, chat_context, "pets") if status == "active"
    } == {"a dog"}
    await apply_belief_action(app.db, app.clock, chat_context.person.id, "confirm", new.id)
    async with app.db.begin_read() as tx:
        told = await get_history(tx, chat_context.person.id, dog)

    assert (
        await values(app, chat_context, "pets")
        == before
        == {
            ("a dog", "rejected"),
            ("two dogs", "active"),
        }
    )
    own = [
        (step.change.op, step.until is None)
        for step in told.entries
        if step.change.object_id == dog
    ]
    assert own[-2:] == [("reopened", False), ("superseded", True)]


async def test_confirming_a_rejected_change_restores_the_old_values_end_date(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Not until the person changed their mind."""
    await tell(app, chat_context)
    home = await the_one(app, chat_context, "Porto")
    clock.tick(minutes=40 * 24 * 60)
    day = app.clock() - 10 * DAY
    faro, old = await edit_belief_text(
        app.db, app.clock, chat_context.person.id, home, "Lives in Faro.", since=day
    )
    await apply_belief_action(app.db, app.clock, chat_context.person.id, "reject", faro.id)
    clock.tick(minutes=60)
    await apply_belief_action(app.db, app.clock, chat_context.person.id, "confirm", faro.id)
    async with app.db.begin_read() as tx:
        now = (await get_memory_state(tx, chat_context.person.id, MemoryId(ObjectId(home)))).memory

    assert now == old


async def test_edited_sentence_overrides_an_unchanged_old_value(
    app: AppContext, chat_context: ChatContext
) -> None:
    """A form sends the old value along; a full stop may be left out."""
    await tell(app, chat_context)
    home = await the_one(app, chat_context, "Porto")
    await edit_belief_text(
        app.db, app.clock, chat_context.person.id, home, "Lives in Faro", value="Porto"
    )

    assert await values(app, chat_context, "location") == {
        ("Porto", "rejected"),
        ("Faro", "active"),
    }


async def test_beliefs_and_entities_can_be_pinned_and_unpinned(
    app: AppContext, chat_context: ChatContext
) -> None:
    """Memories and names alike."""
    await tell(app, chat_context)
    for each in (
        await the_one(app, chat_context, "Porto"),
        (await the_names(app, chat_context))["Ana"],
    ):
        (pinned,) = await apply_belief_action(
            app.db, app.clock, chat_context.person.id, "pin", each
        )
        (unpinned,) = await apply_belief_action(
            app.db, app.clock, chat_context.person.id, "unpin", each
        )
        assert (pinned.is_pinned, unpinned.is_pinned) == (True, False)


async def the_names(app: AppContext, chat_context: ChatContext) -> dict[str, str]:
    """The ids of entities, by name."""
    async with app.db.begin_read() as tx:
        told = await list_entity_beliefs(tx, chat_context.person.id, live=False)
    return {each.content.name: each.content.id for each in told if isinstance(each.content, Entity)}


async def test_entities_can_be_merged_and_separated_again(
    app: AppContext, chat_context: ChatContext
) -> None:
    """The second becomes another name of the first, and itself again."""
    await tell(app, chat_context, ["My sister Ana called.", "My friend Marta is a doctor."])
    names = await the_names(app, chat_context)
    kept, gone = await merge_beliefs(app, chat_context.person.id, names["Ana"], names["Marta"])
    assert isinstance(kept, Entity)
    assert isinstance(gone, Entity)
    assert (kept.aliases, gone.status, gone.same_as) == (("Marta",), "merged", kept.id)

    kept, gone = await separate_beliefs(app, chat_context.person.id, names["Ana"], names["Marta"])
    assert isinstance(kept, Entity)
    assert isinstance(gone, Entity)
    assert (kept.aliases, gone.status, gone.ended_at) == ((), "separate", None)
    await believed(app, chat_context)


async def test_merged_beliefs_share_evidence_until_separated(
    app: AppContext, chat_context: ChatContext
) -> None:
    """And each on its own again, when they are kept apart."""
    await tell(app, chat_context, ["I love jazz.", "I love bebop."])
    jazz, bebop = [await the_one(app, chat_context, word) for word in ("jazz", "bebop")]
    await merge_beliefs(app, chat_context.person.id, jazz, bebop)
    (left,) = [
        each for each in await believed(app, chat_context) if each.content.id in {jazz, bebop}
    ]
    assert (left.content.id, len(left.evidence)) == (jazz, 2)

    await separate_beliefs(app, chat_context.person.id, jazz, bebop)
    quotes = {
        each.content.id: [words.quote for words in each.evidence]
        for each in await believed(app, chat_context)
        if each.content.id in {jazz, bebop}
    }
    assert "jazz" in quotes[jazz][0]
    assert "bebop" in quotes[bebop][0]
    assert len(quotes[jazz]) == len(quotes[bebop]) == 1


async def test_rejected_entity_is_not_learned_again(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """However often it is said."""
    await tell(app, chat_context, ["My friend Marta is a doctor."])
    await apply_belief_action(
        app.db,
        app.clock,
        chat_context.person.id,
        "reject",
        (await the_names(app, chat_context))["Marta"],
    )
    clock.tick(minutes=MONTH)
    await tell(app, chat_context, ["My friend Marta came by."])

    async with app.db.begin_read() as tx:
        assert await list_entity_beliefs(tx, chat_context.person.id) == []


async def test_entity_description_by_the_person_is_stored(
    app: AppContext, chat_context: ChatContext
) -> None:
    """And is shown with the name."""
    await tell(app, chat_context)
    ana = (await the_names(app, chat_context))["Ana"]
    await edit_belief_text(
        app.db, app.clock, chat_context.person.id, ana, "My younger sister, in Braga."
    )

    async with app.db.begin_read() as tx:
        found = (await get_belief(tx, chat_context.person.id, ana[-8:])).content
    assert isinstance(found, Entity)
    assert (found.description, found.is_by_person) == ("My younger sister, in Braga.", True)


async def test_invalid_belief_actions_are_rejected(
    app: AppContext, chat_context: ChatContext
) -> None:
    """With what to do instead; nothing is written."""
    await tell(app, chat_context)
    ana, home = (
        (await the_names(app, chat_context))["Ana"],
        await the_one(app, chat_context, "Porto"),
    )
    person = chat_context.person.id
    with pytest.raises(InvalidInput, match="not one of each"):
        await merge_beliefs(app, person, ana, home)
    with pytest.raises(InvalidInput, match="already the same"):
        await merge_beliefs(app, person, home, home[-8:])
    with pytest.raises(InvalidInput, match="characters"):
        await edit_belief_text(app.db, app.clock, person, home, "  ")
    with pytest.raises(NotFound):
        await apply_belief_action(app.db, app.clock, person, "pin", "ffffffff")
    await apply_belief_action(app.db, app.clock, person, "reject", home)
    with pytest.raises(InvalidInput, match="no longer believed"):
        await apply_belief_action(app.db, app.clock, person, "pin", home)


async def homes(app: AppContext, chat_context: ChatContext) -> dict[str, str]:
    """Where somebody lives, or did; "-" where that was never so."""
    return {
        each.content.value: each.content.status
        if each.content.status != "active" or each.content.ended_at is None
        else "-"
        for each in await believed(app, chat_context, live=False)
        if isinstance(each.content, StoredBelief) and each.content.key == "location"
    }


async def moves(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, *places: str
) -> None:
    """Somebody lives here, then there, a month each."""
    for place in places:
        await tell(app, chat_context, [f"I live in {place}."])
        clock.tick(minutes=MONTH)


async def segments(app: AppContext, chat_context: ChatContext) -> list[Segment]:
    """What was read, in order."""
    async with app.db.begin_read() as tx:
        return await list_segments(tx, chat_context.person.id)


async def undo(app: AppContext, chat_context: ChatContext, number: int) -> None:
    """Take back one reading."""
    await undo_segment(
        app.db, app.clock, chat_context.person.id, (await segments(app, chat_context))[number].id
    )


async def id_of(app: AppContext, chat_context: ChatContext, words: str) -> str:
    """The message of the person in which these words stand."""
    async with app.db.begin_read() as tx:
        said = await list_messages(tx, chat_context.person.id)
    return next(each.id for each in said if words in each.text and each.role == "person")


async def test_undoing_a_middle_consolidation_extends_the_earlier_value(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """The value before it was so until the next one began, and is never one of two that hold."""
    await moves(app, chat_context, clock, "Lisbon", "Porto", "Braga")
    await undo(app, chat_context, 1)

    assert await homes(app, chat_context) == {
        "Lisbon": "superseded",
        "Porto": "-",
        "Braga": "active",
    }
    times = {
        each.content.value: (each.content.holds_from, each.content.holds_until)
        for each in await believed(app, chat_context, live=False)
        if isinstance(each.content, StoredBelief) and each.content.key == "location"
    }
    assert times["Lisbon"][1] == times["Braga"][0]


async def test_undoing_middle_then_last_consolidation_restores_the_first_value(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Whatever stood between them."""
    await moves(app, chat_context, clock, "Lisbon", "Porto", "Braga")
    await undo(app, chat_context, 1)
    await undo(app, chat_context, 2)

    assert await homes(app, chat_context) == {"Lisbon": "active", "Porto": "-", "Braga": "-"}


async def test_undoing_consolidations_from_the_last_restores_values_one_by_one(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Each as it was before."""
    await moves(app, chat_context, clock, "Lisbon", "Porto", "Braga")
    await undo(app, chat_context, 2)
    assert await homes(app, chat_context) == {
        "Lisbon": "superseded",
        "Porto": "active",
        "Braga": "-",
    }
    await undo(app, chat_context, 1)
    assert await homes(app, chat_context) == {"Lisbon": "active", "Porto": "-", "Braga": "-"}


async def test_undoing_an_old_message_does_not_reactivate_a_superseded_value(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """They had only told since when the home before was one; which stays the home before."""
    long_ago = clock.now - 20 * 365 * DAY
    await moves(app, chat_context, clock, "Lisbon", "Porto")
    await answer_message(app, chat_context, MessageSubmission(text="I live in Braga.", at=long_ago))
    await learn_now(app, chat_context.person.id, cut_reason="asked")
    assert (await homes(app, chat_context))["Braga"] == "superseded"
    await undo(app, chat_context, 0)

    assert await homes(app, chat_context) == {
        "Lisbon": "superseded",
        "Porto": "active",
        "Braga": "-",
    }
    await undo(app, chat_context, 2)

    assert await homes(app, chat_context) == {"Lisbon": "active", "Porto": "-", "Braga": "-"}


async def test_confirming_a_rejected_value_supersedes_the_restored_one(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """What had come back in its place gives way to it, and comes back when it goes again."""
    await moves(app, chat_context, clock, "Lisbon", "Porto")
    porto = await the_one(app, chat_context, "Porto")
    await apply_belief_action(app.db, app.clock, chat_context.person.id, "reject", porto)
    await apply_belief_action(app.db, app.clock, chat_context.person.id, "confirm", porto)
    assert await homes(app, chat_context) == {"Lisbon": "superseded", "Porto": "active"}
    await apply_belief_action(app.db, app.clock, chat_context.person.id, "reject", porto)
    assert await homes(app, chat_context) == {"Lisbon": "active", "Porto": "rejected"}


async def test_undo_restores_a_multi_valued_preference_beside_others(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """One who likes chess may like coffee again."""
    for text in ("I love coffee.", "I can't stand coffee.", "I love chess."):
        await tell(app, chat_context, [text])
        clock.tick(minutes=MONTH)
    await undo(app, chat_context, 1)

    liked = {
        each.content.value
        for each in await believed(app, chat_context)
        if isinstance(each.content, StoredBelief) and each.content.key == "interests"
    }
    assert liked == {"coffee", "chess"}


def claim(material: ExtractionInput, text: str, words: str, **fields: object) -> Claim:
    """Something read out of the message in which these words stand."""
    (said,) = [each for each in material.messages if words in each.text and each.role == "person"]
    quotes = (Quote(message=said.id, text=words),)
    return Claim(text=text, quotes=quotes, **fields)


async def read_as(
    app: AppContext, chat_context: ChatContext, text: str, **fields: object
) -> Segment:
    """Say something, and have a model read one thing in it, with whoever is named."""
    await answer_message(app, chat_context, MessageSubmission(text=text))
    (segment,) = await schedule_learning(
        app.db, app.clock, app.settings, chat_context.person.id, cut_reason="asked"
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


async def test_undo_restores_a_revised_due_date_and_aliases(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """How strongly something was felt, when it is due, and by which names somebody goes."""
    promise = "Promised Robert to paint his fence."
    words = "I will paint his fence"
    await read_as(
        app,
        chat_context,
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
        chat_context,
        f"Robert, whom they call Bozo, came again. {words} in summer.",
        told=promise,
        words=words,
        kind="commitment",
        due_at=clock.now + 40 * DAY,
        aliases=("Bozo",),
    )
    async with app.db.begin_read() as tx:
        (robert,) = await list_entities(tx, chat_context.person.id)
    assert robert.aliases == ("Bozo",)
    await undo_segment(app.db, app.clock, chat_context.person.id, later.id)

    (kept,) = [
        each.content
        for each in await believed(app, chat_context)
        if isinstance(each.content, StoredBelief)
    ]
    assert kept.due_at == due
    async with app.db.begin_read() as tx:
        (robert,) = await list_entities(tx, chat_context.person.id)
    assert robert.aliases == ()


async def test_message_before_the_persons_confirmation_does_not_override_it(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Though they are read later; words of afterwards do."""
    await tell(app, chat_context, ["I live in Porto."])
    clock.tick(minutes=600)
    await answer_message(app, chat_context, MessageSubmission(text="I live in Lisbon."))
    clock.tick(minutes=1)
    await apply_belief_action(
        app.db,
        app.clock,
        chat_context.person.id,
        "confirm",
        await the_one(app, chat_context, "Porto"),
    )
    clock.tick(minutes=60)
    await tell(app, chat_context, [])
    assert await homes(app, chat_context) == {"Porto": "active", "Lisbon": "superseded"}

    await tell(app, chat_context, ["I live in Braga."])
    assert (await homes(app, chat_context))["Braga"] == "active"


async def test_implicit_contradiction_does_not_dispute_a_confirmed_belief(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """However often there is one."""
    habit, words = "Goes running by the river often.", "I go running by the river"
    await read_as(
        app,
        chat_context,
        f"{words} every morning before work.",
        told=habit,
        words=words,
        kind="pattern",
        pattern="behavior",
    )
    (one,) = [
        each.content
        for each in await believed(app, chat_context)
        if isinstance(each.content, StoredBelief)
    ]
    await apply_belief_action(app.db, app.clock, chat_context.person.id, "confirm", one.id)
    for day in ("Monday", "Tuesday", "Friday"):
        clock.tick(minutes=60 * 24)
        sign = f"On {day} I took the tram by the river"
        await read_as(
            app,
            chat_context,
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

    (still,) = [each for each in await believed(app, chat_context) if each.content.id == one.id]
    assert isinstance(still.content, StoredBelief)
    assert (still.content.status, len(still.evidence)) == ("active", 1)


async def test_undone_segment_is_read_again_only_after_an_edit(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Not when something in it is forgotten, nor by a model; when something is edited, it is."""
    await tell(
        app, chat_context, ["I live in Porto.", "I love jazz.", "The milk is in the fridge now."]
    )
    await undo_segment(app.db, app.clock, chat_context.person.id, None)
    assert (await plan_reextraction(app.db, app.settings, chat_context.person.id)).segments == ()
    (segment,) = await segments(app, chat_context)
    assert (
        await consolidate_segment(app, chat_context.person.id, segment.id, extractor="model")
        is None
    )

    await forget(
        app, chat_context.person.id, DeletionRequest(ids=(await id_of(app, chat_context, "milk"),))
    )
    await tell(app, chat_context, [])
    assert await homes(app, chat_context) == {"Porto": "-"}
    assert [each.status for each in await segments(app, chat_context)] == ["taken back"]

    await accept_edit(app, chat_context, await id_of(app, chat_context, "Porto"), "I live in Faro.")
    await tell(app, chat_context, [])
    assert (await homes(app, chat_context))["Faro"] == "active"


async def test_forgetting_the_newest_value_restores_the_superseded_one(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """The newest goes: the one before holds again."""
    await moves(app, chat_context, clock, "Lisbon", "Porto")
    await forget(
        app, chat_context.person.id, DeletionRequest(ids=(await id_of(app, chat_context, "Porto"),))
    )
    await tell(app, chat_context, [])

    assert await homes(app, chat_context) == {"Lisbon": "active"}


async def test_forgetting_a_middle_value_keeps_the_newest_active(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """One holds, and when that is forgotten, too, the first does."""
    await moves(app, chat_context, clock, "Lisbon", "Porto", "Braga")
    await forget(
        app, chat_context.person.id, DeletionRequest(ids=(await id_of(app, chat_context, "Porto"),))
    )
    await tell(app, chat_context, [])
    assert await homes(app, chat_context) == {"Lisbon": "superseded", "Braga": "active"}

    await forget(
        app, chat_context.person.id, DeletionRequest(ids=(await id_of(app, chat_context, "Braga"),))
    )
    await tell(app, chat_context, [])
    assert await homes(app, chat_context) == {"Lisbon": "active"}


async def test_editing_a_message_restores_the_value_it_had_superseded(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Whatever is said there instead."""
    await moves(app, chat_context, clock, "Lisbon", "Porto")
    said = await id_of(app, chat_context, "Porto")
    await accept_edit(app, chat_context, said, "I had a lovely walk today.")
    await tell(app, chat_context, [])
    assert await homes(app, chat_context) == {"Lisbon": "active", "Porto": "-"}

    clock.tick(minutes=1)
    await accept_edit(app, chat_context, said, "I live in Faro.")
    await tell(app, chat_context, [])
    assert await homes(app, chat_context) == {
        "Lisbon": "superseded",
        "Porto": "-",
        "Faro": "active",
    }


async def test_reconsolidation_without_an_edit_keeps_superseded_values_ended(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """What overtook it still stands."""
    await moves(app, chat_context, clock, "Lisbon", "Porto", "Braga")
    for segment in await segments(app, chat_context):
        async with app.db.begin_write() as tx:
            again = await reopen_segment(tx, segment)
        await consolidate_segment(app, chat_context.person.id, again.id)
        assert await homes(app, chat_context) == {
            "Lisbon": "superseded",
            "Porto": "superseded",
            "Braga": "active",
        }
