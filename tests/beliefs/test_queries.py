"""What is believed, what was believed on a day, and why."""

from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.beliefs.correct import edit_belief_text, undo_segment
from oldfriend.beliefs.queries import (
    build_searchable_text,
    filter_beliefs_about,
    get_belief,
    get_history,
    list_beliefs_at,
    list_conversation_summaries,
    parse_as_of,
    search_beliefs,
)
from oldfriend.cli.stats import compute_stats
from oldfriend.domain.clock import DAY
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.ids import new_id
from oldfriend.domain.memories import StoredBelief
from oldfriend.domain.messages import Message
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.memory.journal import Provenance, get_latest_seq, record_decision
from oldfriend.memory.people import rename_person
from oldfriend.presenters.belief_text import format_belief, format_belief_line
from oldfriend.presenters.history_schemas import format_history
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.learn_now import learn_now
from tests.beliefs.life import TOLD, believed, tell, the_one
from tests.clock import FrozenClock
from tests.summaries import sum_up

MONTH = 60 * 24 * 30


async def homes(app: AppContext, chat_context: ChatContext, at: int) -> list[str]:
    """Where the person was believed to live at a moment."""
    async with app.db.begin_read() as tx:
        return [
            each.content.value
            for each in await list_beliefs_at(tx, chat_context.person.id, at)
            if isinstance(each.content, StoredBelief) and each.content.key == "location"
        ]


async def test_beliefs_at_a_time_are_those_held_then(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Nothing before anything was said; the old home until the move was heard of."""
    before = clock() - 1
    await tell(app, chat_context)
    first = clock()
    clock.tick(minutes=MONTH)
    await tell(app, chat_context, ["Big news: I moved to Lisbon last week!"])

    assert await homes(app, chat_context, before) == []
    assert await homes(app, chat_context, first) == ["Porto"]
    assert await homes(app, chat_context, clock()) == ["Lisbon"]


async def test_belief_at_a_past_time_has_only_evidence_from_before(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Not on what was said about it since."""
    await tell(app, chat_context, ["I love jazz."])
    first = clock()
    clock.tick(minutes=MONTH)
    await tell(app, chat_context, ["I really love jazz, I told you."])

    async with app.db.begin_read() as tx:
        then, now = [
            next(
                each
                for each in await list_beliefs_at(tx, chat_context.person.id, at)
                if isinstance(each.content, StoredBelief) and each.content.value == "jazz"
            )
            for at in (first, clock())
        ]
    assert [each.said_at <= first for each in then.evidence] == [True]
    assert len(now.evidence) == 2


async def test_history_covers_all_values_of_a_belief(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Asked of the old value or the new: each decision, its author, the words, until when."""
    await tell(app, chat_context)
    porto = await the_one(app, chat_context, "Porto")
    clock.tick(minutes=MONTH)
    await tell(app, chat_context, ["Big news: I moved to Lisbon last week!"])
    lisbon = next(
        each.content.id
        for each in await believed(app, chat_context)
        if isinstance(each.content, StoredBelief) and each.content.value == "Lisbon"
    )
    clock.tick(minutes=MONTH)
    await edit_belief_text(
        app.db, app.clock, chat_context.person.id, lisbon, "Lives in Cascais.", value="Cascais"
    )

    async with app.db.begin_read() as tx:
        told = [
            await get_history(tx, chat_context.person.id, each[-8:]) for each in (porto, lisbon)
        ]
    assert told[0].entries == told[1].entries
    ops = [(step.change.op, step.change.author.partition("/")[0]) for step in told[0].entries]
    assert sorted(ops) == sorted(
        [
            ("learned", "rules"),
            ("learned", "rules"),
            ("superseded", "rules"),
            ("learned", "person"),
            ("superseded", "person"),
        ]
    )
    first = told[0].entries[0]
    assert [message.text for message in first.cause_messages] == [TOLD[0]]
    assert first.until == first.change.decided_at + 30 * DAY
    text = format_history(told[0], zone="UTC")
    assert "by you" in text
    assert TOLD[0] in text


async def test_belief_found_by_id_suffix_is_shown_with_its_quote(
    app: AppContext, chat_context: ChatContext
) -> None:
    """Found by the end of its id."""
    await tell(app, chat_context)
    porto = await the_one(app, chat_context, "Porto")
    async with app.db.begin_read() as tx:
        found = await get_belief(tx, chat_context.person.id, porto[-8:])

    text = format_belief(found, zone="UTC", now=app.clock())
    assert "location: Porto" in text
    assert f"“{TOLD[0]}”" in text
    assert porto[-8:] in text


async def test_rollup_summary_lists_its_sources_down_to_the_messages(
    app: AppContext, chat_context: ChatContext
) -> None:
    """And each of them to what was said."""
    await tell(app, chat_context)
    now, person = app.clock(), chat_context.person.id
    (first,) = await sum_up(app.db, person)
    async with app.db.begin_write() as tx:
        whole = replace(
            first, id=new_id(now), level=2, text="In short.", sources=(first.id,), learned_at=now
        )
        folded = replace(first, is_active=False)
        ground = Provenance(author="summarise/2")
        base = await get_latest_seq(tx, person, first.id)
        await record_decision(tx, folded, op="revised", base=base, provenance=ground, now=now)
        await record_decision(tx, whole, op="learned", base=0, provenance=ground, now=now)
        found = await get_belief(tx, person, whole.id)
        below = await get_belief(tx, person, first.id)

    assert found.sources == (folded,)
    assert f"  • {format_belief_line(folded, zone='UTC')}" in format_belief(
        found, zone="UTC", now=now
    )
    said = [each for each in below.sources if isinstance(each, Message)]
    words = [each.text for each in said if each.role == "person"]
    assert words
    assert all(text in format_belief(below, zone="UTC", now=now) for text in words)


async def test_beliefs_are_filtered_by_entity_name_and_unknown_name_is_rejected(
    app: AppContext, chat_context: ChatContext
) -> None:
    """A name that nobody has is refused."""
    await tell(app, chat_context)
    async with app.db.begin_read() as tx:
        told = await list_beliefs_at(tx, chat_context.person.id, app.clock())
        ana = await filter_beliefs_about(tx, chat_context.person.id, "ana", told)
        with pytest.raises(NotFound):
            await filter_beliefs_about(tx, chat_context.person.id, "Zebedee", told)

    assert ana
    assert len(ana) < len(told)


async def test_filtering_by_the_persons_own_name_gives_all_their_beliefs(
    app: AppContext, chat_context: ChatContext
) -> None:
    """Not only what holds the name."""
    await tell(app, chat_context)
    async with app.db.begin_write() as tx:
        await rename_person(tx, chat_context.person, "Jazz", platforms=())
    async with app.db.begin_read() as tx:
        told = await list_beliefs_at(tx, chat_context.person.id, app.clock())
        own = await filter_beliefs_about(tx, chat_context.person.id, "jazz", told)

    assert {"jazz" in build_searchable_text(each.content).casefold() for each in own} == {
        True,
        False,
    }


async def test_belief_search_ranks_by_words_and_meaning(
    app: AppContext, chat_context: ChatContext
) -> None:
    """The best first."""
    await tell(app, chat_context)
    (first, *_) = await search_beliefs(
        app.db, app.embedder, chat_context.person, "which music do I love"
    )
    assert "jazz" in getattr(first.content, "text", "")
    assert await search_beliefs(app.db, app.embedder, chat_context.person, "zzzzqqq") == []


async def test_undone_consolidation_leaves_no_beliefs_and_is_not_repeated(
    app: AppContext, chat_context: ChatContext
) -> None:
    """Of it; and it is not read again by itself."""
    await tell(app, chat_context)
    await sum_up(app.db, chat_context.person.id)
    assert (await undo_segment(app.db, app.clock, chat_context.person.id, None)).ended
    assert await believed(app, chat_context) == []
    async with app.db.begin_read() as tx:
        assert await list_conversation_summaries(tx, chat_context.person.id) == []
    await learn_now(app, chat_context.person.id, cut_reason="asked")
    assert await believed(app, chat_context) == []
    with pytest.raises(NotFound):
        await undo_segment(app.db, app.clock, chat_context.person.id, None)


async def test_stats_count_beliefs_segments_and_usage(
    app: AppContext, chat_context: ChatContext
) -> None:
    """What was kept, learned, joined; and that replies took up what they were based on."""
    await tell(app, chat_context)
    await answer_message(app, chat_context, MessageSubmission(text="Where do I live?"))
    stats = await compute_stats(app, chat_context.person)

    assert stats.believed["event"] == 1
    assert stats.segments == {"done": 1}
    assert (stats.conversations, stats.unread) == (2, 2)
    assert stats.bytes > 0
    assert 0 <= stats.used <= stats.shown


def test_as_of_date_means_its_end_in_the_persons_zone_and_no_future() -> None:
    """But never later than now; the day after tomorrow is refused."""
    now = 1_700_000_000_000_000  # 2023-11-14T22:13:20Z
    assert parse_as_of("2023-11-13", "UTC", now=now) == 1_699_919_999_999_999
    assert parse_as_of("2023-11-13", "+02:00", now=now) == 1_699_912_799_999_999
    assert parse_as_of("2023-11-14", "UTC", now=now) == now
    assert parse_as_of("2023-11-13T10:00", "UTC", now=now) == 1_699_869_600_000_000
    with pytest.raises(InvalidInput):
        parse_as_of("2023-11-20", "UTC", now=now)
