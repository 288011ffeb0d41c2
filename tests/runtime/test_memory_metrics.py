"""How memory does is told in numbers: what was read, decided, refused, and how long it took."""

from prometheus_client.parser import text_string_to_metric_families

from oldfriend.app.app_context import AppContext
from oldfriend.beliefs.correct import apply_belief_action
from oldfriend.domain.clock import DAY
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.learning.learning_scheduler import (
    consolidate_segment,
    mark_consolidation_failed,
    schedule_learning,
)
from oldfriend.memory.belief_views import list_memories
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.metrics import collect_metrics, render_prometheus
from tests.clock import FrozenClock
from tests.engines import both_engines

engine = both_engines


TOLD = ("I live in Porto.", "My sister Ana is a nurse.", "I love jazz.", "Where do I live?")


async def told(app: AppContext) -> tuple[dict[tuple[str, ...], float], str]:
    """The numbers by name and labels, and as they are sent."""
    text = render_prometheus(await collect_metrics(app), up_s=0).decode()
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }, text


async def live(app: AppContext, chat_context: ChatContext, clock: FrozenClock) -> None:
    """Something is told, read, told again, read, and put right; one reading fails."""
    for _ in range(2):
        for text in TOLD:
            await answer_message(app, chat_context, MessageSubmission(text=text))
        for segment in await schedule_learning(
            app.db, app.clock, app.settings, chat_context.person.id, cut_reason="asked"
        ):
            clock.tick(seconds=30)
            await consolidate_segment(app, chat_context.person.id, segment.id)
    async with app.db.begin_read() as tx:
        (home,) = [
            each.memory.id
            for each in await list_memories(tx, chat_context.person.id)
            if each.memory.key == "location"
        ]
    await apply_belief_action(app.db, app.clock, chat_context.person.id, "reject", home)
    await answer_message(app, chat_context, MessageSubmission(text="We sat by the river again."))
    (segment,) = await schedule_learning(
        app.db, app.clock, app.settings, chat_context.person.id, cut_reason="asked"
    )
    async with app.db.begin_write() as tx:
        await mark_consolidation_failed(
            tx, chat_context.person.id, segment.id, "It broke.", now=clock()
        )


async def test_memory_metrics_count_decisions_without_names(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Of today, of everybody together."""
    await live(app, chat_context, clock)

    numbers, text = await told(app)

    expected = {
        ("oldfriend_segments_read_total", "done"): 2,
        ("oldfriend_segments_read_total", "failed"): 1,
        ("oldfriend_belief_decisions_total", "rejected"): 1,
        ("oldfriend_reading_seconds", "0.95"): 30,
        ("oldfriend_reply_seconds", "0.95"): 0,
        ("oldfriend_replies_without_embedder_ratio",): 0,
    }
    assert expected.items() <= numbers.items()
    assert numbers["oldfriend_claims_total", "learned"] >= 3
    assert numbers["oldfriend_claims_total", "joined"] >= 3
    assert numbers["oldfriend_belief_decisions_total", "learned"] >= 3
    assert 0 < numbers["oldfriend_evidence_similarity",] <= 1
    assert not [word for word in ("Porto", "Ana", "jazz", chat_context.person.id) if word in text]


async def test_memory_metrics_of_a_day_without_messages_are_zero_or_absent(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Counts are at zero; how long replies took is not made up."""
    await live(app, chat_context, clock)
    clock.tick(minutes=2 * DAY // 60_000_000)

    numbers, _ = await told(app)

    assert numbers["oldfriend_segments_read_total", "done"] == 0
    assert numbers["oldfriend_claims_total", "learned"] == 0
    assert not [name for name, *_ in numbers if name.endswith(("reply_seconds", "closeness"))]
