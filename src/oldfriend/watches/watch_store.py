"""Watch store: the watches of each person, and the job that looks at each when it is due."""

from collections.abc import Sequence
from typing import Final

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import ChatId, MessageId, PersonId, get_by_partial_id
from oldfriend.domain.job_types import Job
from oldfriend.queues.jobs_table import build_payload_error
from oldfriend.queues.scheduled_jobs import JobSpec, parse_job_spec, schedule_job
from oldfriend.watches.watch import CONDITIONS, STATUSES, Watch, WatchStatus

WATCH_JOB: Final = "watch"
MAX_WATCHES: Final = 50
WATCH_COLUMNS: Final = """id, person, chat, message, message_seq, text, language, url, condition,
    threshold, status, seen, amount, failures, next_check_at, created_at, changed_at"""


async def save_watch(tx: Transaction, watch: Watch) -> None:
    """Store a watch, new or changed."""
    await tx.run(
        f"""INSERT INTO watch ({WATCH_COLUMNS})
           VALUES (:id, :person, :chat, :message, :message_seq, :text, :language, :url, :condition,
             :threshold, :status, :seen, :amount, :failures, :next_check_at, :created_at,
             :changed_at)
           ON CONFLICT (id) DO UPDATE SET text = excluded.text, url = excluded.url,
             condition = excluded.condition, threshold = excluded.threshold,
             status = excluded.status, seen = excluded.seen,
             amount = excluded.amount, failures = excluded.failures,
             next_check_at = excluded.next_check_at, changed_at = excluded.changed_at
           WHERE watch.person = :person""",
        id=watch.id,
        person=watch.person,
        chat=watch.chat,
        message=watch.message,
        message_seq=watch.message_seq,
        text=watch.text,
        language=watch.language,
        url=watch.url,
        condition=watch.condition,
        threshold=watch.threshold,
        status=watch.status,
        seen=watch.seen,
        amount=watch.amount,
        failures=watch.failures,
        next_check_at=watch.next_check_at,
        created_at=watch.created_at,
        changed_at=watch.changed_at,
    )


async def find_watch(tx: Transaction, person: PersonId, watch: str) -> Watch | None:
    """Return the watch of a person with an id."""
    row = await tx.row(
        f"SELECT {WATCH_COLUMNS} FROM watch WHERE person = :person AND id = :watch",
        person=person,
        watch=watch,
    )
    return None if row is None else parse_watch_row(row)


async def list_watches(
    tx: Transaction, person: PersonId, *, statuses: Sequence[WatchStatus] = ("active",)
) -> list[Watch]:
    """List the watches of a person, oldest first."""
    names = {f"status{index}": status for index, status in enumerate(statuses)}
    rows = await tx.rows(
        f"""SELECT {WATCH_COLUMNS} FROM watch WHERE person = :person
           AND status IN ({", ".join(f":{name}" for name in names)})
           ORDER BY created_at, id LIMIT :limit""",
        person=person,
        limit=10 * MAX_WATCHES,
        **names,
    )
    return [parse_watch_row(row) for row in rows]


async def get_watch(tx: Transaction, person: PersonId, partial_id: str) -> Watch:
    """Return the person's active watch that a number of the list or a partial id means.

    Raises NotFound, InvalidInput.
    """
    wanted, active = partial_id.strip().lower(), await list_watches(tx, person)
    if wanted.isdecimal() and 1 <= int(wanted) <= len(active):
        return active[int(wanted) - 1]
    named = ((wanted if each.url == wanted else each.id, each) for each in active)
    return get_by_partial_id(partial_id, named, noun="watch")


async def schedule_watch(
    tx: Transaction, watch: Watch, *, now: Micros, is_again: bool = False
) -> None:
    """Schedule the next look at a page, unless a job waits for it already.

    Again: because a job for it came too early.
    """
    if watch.status == "active" and watch.number is None:
        await schedule_job(
            tx,
            f"watches/{watch.person}",
            JobSpec(name=WATCH_JOB, arguments={"watch": watch.id}),
            person=watch.person,
            now=now,
            due_at=watch.next_check_at,
            dedup_key=f"{build_look_key(watch)}/{now}" if is_again else build_look_key(watch),
        )


def build_look_key(watch: Watch) -> str:
    """Return the key of the job for the next look at a watch."""
    return f"{watch.id}/{watch.next_check_at}"


async def plan_watches(tx: Transaction, person: PersonId, *, now: Micros) -> None:
    """Schedule the watches that no job waits for, such as those of a restored export."""
    for watch in await list_watches(tx, person):
        await schedule_watch(tx, watch, now=now)


def parse_watch_job(job: Job) -> str:
    """Return the watch that a job is for. Raises InvalidInput."""
    watch = parse_job_spec(job).arguments.get("watch")
    if not isinstance(watch, str):
        raise build_payload_error(job, "watch")
    return watch


def parse_watch_row(row: Row) -> Watch:
    """Parse a row of WATCH_COLUMNS."""
    watch_id, person, chat, message, message_seq, text, language, url, condition = row[:9]
    threshold, status, seen, amount, failures, next_check_at, created_at, changed_at = row[9:]
    return Watch(
        id=watch_id,
        person=PersonId(person),
        chat=None if chat is None else ChatId(chat),
        message=None if message is None else MessageId(message),
        message_seq=message_seq,
        text=text,
        language=language,
        url=url,
        condition=next(each for each in CONDITIONS if each == condition),
        threshold=threshold,
        status=next(each for each in STATUSES if each == status),
        seen=seen,
        amount=amount,
        failures=failures,
        next_check_at=next_check_at,
        created_at=created_at,
        changed_at=changed_at,
    )
