"""A pattern of the recap says on which days of the diary it is seen (ACCEPTANCE G10)."""

from oldfriend.app.app_context import AppContext
from oldfriend.diary.diary_store import DiaryFilter, list_entries
from oldfriend.domain.memories import StoredBelief
from oldfriend.inbound.accept import ChatContext
from oldfriend.memory.evidence import list_object_evidence
from oldfriend.proactive.proactive_phrases import load_proactive_phrases
from oldfriend.prompts.locale_phrases import load_phrases
from oldfriend.replies.proactive_wording import word_pattern
from oldfriend.replies.source_records import load_patterns
from tests.beliefs.test_correct import believed, read_as
from tests.clock import FrozenClock


async def test_pattern_names_the_days_of_the_diary_that_it_is_seen_on(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Of its evidence, only what an entry came with; in the recap and in what the page reads."""
    habit, words = "Goes running by the river often.", "I go running by the river"
    fields = {"told": habit, "kind": "pattern", "pattern": "behavior"}
    await read_as(
        app, chat_context, f"/journal {words} every morning before work.", words=words, **fields
    )
    async with app.db.begin_read() as tx:
        (entry,) = await list_entries(tx, chat_context.person.id, DiaryFilter())
        (pattern,) = await load_patterns(tx, chat_context.person)
        (held,) = [
            each.content
            for each in await believed(app, chat_context)
            if isinstance(each.content, StoredBelief)
        ]
        evidence = await list_object_evidence(tx, chat_context.person.id, [held.id])
    line = word_pattern(pattern, load_proactive_phrases("en"), load_phrases("en"))

    assert [each.diary_day for each in evidence[held.id]] == [entry.day]
    assert line == "• What I notice: Goes running by the river often. (in your diary: " + (
        f"{entry.day.day} November 2023)"
    )


async def test_pattern_of_talk_names_no_days(app: AppContext, chat_context: ChatContext) -> None:
    """It is seen in no entry."""
    words = "I go running by the river"
    await read_as(
        app,
        chat_context,
        f"{words} every morning before work.",
        told="Goes running by the river often.",
        words=words,
        kind="pattern",
        pattern="behavior",
    )
    async with app.db.begin_read() as tx:
        (pattern,) = await load_patterns(tx, chat_context.person)
    assert pattern.diary_days == ()
