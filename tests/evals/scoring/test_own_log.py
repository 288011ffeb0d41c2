"""One's own later words bring back what was believed before; nothing is written for that."""

from oldfriend.app.app_context import AppContext
from oldfriend.domain.clock import MINUTE
from oldfriend.inbound.accept import ChatContext, MessageSubmission, open_local_chat
from oldfriend.learning.learning_scheduler import consolidate_segment, schedule_learning
from oldfriend.replies.reply_worker import answer_message
from oldfriend_evals.scoring.own_log import MOST, Log, embed_log, load_log, sample_evenly
from oldfriend_evals.scoring.scorer_comparison import Case, compare_scorers, compute_share
from tests.clock import FrozenClock
from tests.engines import SQLITE_ONLY

MONTH = 60 * 24 * 30


async def told(app: AppContext, clock: FrozenClock, *texts: str) -> ChatContext:
    """Somebody who has said some things, a month apart, and was read each time."""
    line = await open_local_chat(app.db, app.clock, app.settings, person=None, channel="terminal")
    for text in texts:
        await answer_message(app, line, MessageSubmission(text=text))
        for segment in await schedule_learning(
            app.db, app.clock, app.settings, line.person.id, cut_reason="asked"
        ):
            await consolidate_segment(app, line.person.id, segment.id)
        clock.tick(minutes=MONTH)
    return line


async def log(app: AppContext, line: ChatContext) -> Log:
    """What a replay needs of it."""
    async with app.db.begin_read() as tx:
        return await load_log(tx, line.person.id, app.embedder.model, now=app.clock())


def asked(log: Log) -> list[Case]:
    """All that is asked of a log."""
    return [case for _, cases in log.moments() for case in cases]


@SQLITE_ONLY
async def test_repeated_statement_becomes_a_question_about_the_earlier_belief(
    app: AppContext, clock: FrozenClock
) -> None:
    """Not of what it taught itself."""
    line = await told(app, clock, "I love jazz.", "It rains.", "I love jazz, you know.")
    own = await log(app, line)
    index, (case,) = next(own.moments())

    assert case.question.text == "I love jazz, you know."
    assert [each.memory.value for each in index.known if each.memory.id in case.right] == ["jazz"]
    (jazz,) = (each for each in index.known if each.memory.id in case.right)
    assert jazz.stats.times_seen == 1
    assert jazz.stats.last_seen < (case.question.asked_at or 0) - MONTH * MINUTE
    assert own.known[jazz.memory.id].stats.times_seen == 2


@SQLITE_ONLY
async def test_changed_value_becomes_a_question_about_each_period(
    app: AppContext, clock: FrozenClock
) -> None:
    """Each value, and the others contradict it."""
    line = await told(app, clock, "I live in Porto.", "I live in Lisbon.", "It rains.")
    own = await log(app, line)
    then = [case for case in asked(own) if case.asked == "then"]
    values = {each.memory.id: each.memory.value for each in own.known.values()}

    assert sorted(values[each] for case in then for each in case.right) == ["Lisbon", "Porto"]
    assert all(case.rivals and not case.rivals & case.right for case in then)
    shares = [
        compute_share(tally.of["as it was then"])
        for tally in compare_scorers(own.moments()).values()
    ]
    assert [share.value for share in shares if share] == [1.0, 1.0, 1.0]


@SQLITE_ONLY
async def test_scoring_the_own_log_changes_no_rows(app: AppContext, clock: FrozenClock) -> None:
    """Neither by the reading, nor by the asking."""
    line = await told(app, clock, "I love jazz.", "I love jazz, you know.")
    async with app.db.begin_read() as tx:
        before = [
            await tx.rows(f"SELECT * FROM {table}") for table in ("person", "memory", "change")
        ]
    compare_scorers((await embed_log(await log(app, line), app.embedder)).moments())
    async with app.db.begin_read() as tx:
        after = [
            await tx.rows(f"SELECT * FROM {table}") for table in ("person", "memory", "change")
        ]

    assert before == after


@SQLITE_ONLY
async def test_log_without_repeated_statements_yields_no_questions(
    app: AppContext, clock: FrozenClock
) -> None:
    """One saying is none again."""
    assert asked(await log(app, await told(app, clock, "I love jazz."))) == []


def test_sampling_of_many_questions_is_spread_over_time() -> None:
    """From the first to nearly the last."""
    chosen = sample_evenly(range(10 * MOST))

    assert len(chosen) == MOST
    assert (chosen[0], chosen[1], chosen[-1]) == (0, 10, 10 * MOST - 10)
