"""What is asked all the time is asked of an index, however much is kept (ACCEPTANCE W23)."""

from collections.abc import Awaitable, Callable

import pytest

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import PersonId
from oldfriend.memory import (
    belief_views,
    change_feed,
    evidence,
    expiry,
    journal,
    learning_stats,
    message_log,
    receipts,
    segments,
)
from tests.engines import SQLITE_ONLY
from tests.memory.test_scoping import Recorder
from tests.two_people import Friend

pytestmark = SQLITE_ONLY

Asking = Callable[[Transaction, PersonId], Awaitable[object]]

ASKED: dict[str, Asking] = {
    "all of a kind": lambda tx, who: belief_views.list_memories(tx, who, kinds=["pattern"]),
    "one value": lambda tx, who: belief_views.list_memories_by_key(tx, who, "fact", "location"),
    "what was decided last": lambda tx, who: belief_views.list_memories_changed_since(tx, who, 7),
    "what stands otherwise": lambda tx, who: belief_views.list_evidence_stats_since(tx, who, 7),
    "what was rejected": belief_views.list_rejected_memories,
    "what was merged": belief_views.list_merged_memories,
    "names": belief_views.list_entities,
    "summaries": belief_views.list_summaries,
    "what was believed on a day": lambda tx, who: journal.list_journal_as_of(tx, who, 7),
    "the words for one": lambda tx, who: evidence.list_object_evidence(tx, who, ["memory"]),
    "what is to come": expiry.find_next_expiry,
    "what waits to be read": segments.list_waiting_segments,
    "how many wait": lambda tx, _: segments.count_waiting_segments(tx),
    "what was read today": lambda tx, _: learning_stats.list_segments_ended_since(tx, since=7),
    "how replies came to be": lambda tx, _: learning_stats.list_reply_timings(tx, since=7),
    "on what replies stand": lambda tx, _: learning_stats.list_similarities(tx, since=7),
    "for which replies one came to mind": lambda tx, who: receipts.find_memory_usage(
        tx, who, "memory"
    ),
    "the last replies": lambda tx, who: receipts.list_receipts(tx, who, limit=5),
    "the newest messages": lambda tx, who: message_log.list_recent_messages(
        tx, who, "chat", limit=5
    ),
    "what is new": lambda tx, who: change_feed.list_journal_after(tx, who, after=7, limit=5),
}


@pytest.mark.parametrize("name", ASKED)
async def test_frequent_queries_use_an_index_and_scan_no_table(nora: Friend, name: str) -> None:
    """Each statement goes by an index of every table that grows."""
    async with nora.db.begin_write() as tx:
        recorder = Recorder(tx, nora.person.id)
        await ASKED[name](recorder, nora.person.id)
        plans = [
            str(step[-1])
            for sql, values, _ in recorder.seen
            for step in await tx.rows(f"EXPLAIN QUERY PLAN {sql}", **values)
        ]

    assert recorder.seen
    assert [step for step in plans if step.startswith("SCAN") and "INDEX" not in step] == []
