"""Task store: the reminders and to-dos of each person."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import DAY, MINUTE, SECOND, Micros, from_micros
from oldfriend.domain.ids import (
    MIN_ID_CHARS,
    ChatId,
    MessageId,
    PersonId,
    get_by_partial_id,
)
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import sanitize_text
from oldfriend.search.tokenizer import is_stop_word, to_term, tokenize
from oldfriend.tasks.recurrence import find_next
from oldfriend.tasks.task import ACTIVE, KINDS, STATUSES, Task, TaskStatus, find_end

TASK_COLUMNS: Final = """id, person, chat, message, message_seq, text, time_words, language, kind,
    status, question, due_at, starts_at, zone, is_date_only, duration_s, rrule, created_at,
    changed_at, delivered_at, project"""
READ_COLUMNS: Final = f"""{TASK_COLUMNS},
    (SELECT p.name FROM project p WHERE p.id = task.project AND p.person = task.person)"""
TIME_FIELDS: Final = ("due_at", "starts_at", "rrule", "zone", "is_date_only", "duration_s")
"""What tells when a task is due, how it repeats and how long it lasts."""
NEAR: Final = 30 * MINUTE
"""Two reminders of nearly the same words within this time are one."""
MIN_SHARED_WORDS: Final = 3
MAX_TASKS: Final = 500
SHOWN_FOR: Final = 2 * DAY
"""What was delivered longer ago has left the list."""
LIKE_SIGNS: Final = str.maketrans({"!": "!!", "%": "!%", "_": "!_"})


async def save_task(tx: Transaction, task: Task) -> None:
    """Store a task, new or changed."""
    await tx.run(
        f"""INSERT INTO task ({TASK_COLUMNS})
           VALUES (:id, :person, :chat, :message, :message_seq, :text, :time_words, :language,
             :kind, :status, :question, :due_at, :starts_at, :zone, :is_date_only,
             :duration_s, :rrule, :created_at, :changed_at, :delivered_at, :project)
           ON CONFLICT (id) DO UPDATE SET message_seq = excluded.message_seq,
             text = excluded.text, time_words = excluded.time_words,
             kind = excluded.kind, status = excluded.status, question = excluded.question,
             due_at = excluded.due_at, starts_at = excluded.starts_at, zone = excluded.zone,
             is_date_only = excluded.is_date_only, duration_s = excluded.duration_s,
             rrule = excluded.rrule,
             changed_at = excluded.changed_at, delivered_at = excluded.delivered_at
           WHERE task.person = :person""",
        id=task.id,
        person=task.person,
        chat=task.chat,
        message=task.message,
        message_seq=task.message_seq,
        text=sanitize_text(task.text),
        time_words=task.time_words,
        language=task.language,
        kind=task.kind,
        status=task.status,
        question=task.question,
        due_at=task.due_at,
        starts_at=task.starts_at,
        zone=task.zone,
        is_date_only=int(task.is_date_only),
        duration_s=task.duration_s,
        rrule=task.rrule,
        created_at=task.created_at,
        changed_at=task.changed_at,
        delivered_at=task.delivered_at,
        project=task.project,
    )


async def find_task(tx: Transaction, person: PersonId, task: str) -> Task | None:
    """Return the task of a person with an id."""
    row = await tx.row(
        f"SELECT {READ_COLUMNS} FROM task WHERE person = :person AND id = :task",
        person=person,
        task=task,
    )
    return None if row is None else parse_task_row(row)


async def get_task(tx: Transaction, person: PersonId, partial_id: str) -> Task:
    """Return the person's task that the beginning of an id means.

    Raises NotFound, InvalidInput.
    """
    wanted = partial_id.strip().lower()
    rows = await tx.rows(
        f"""SELECT {READ_COLUMNS} FROM task WHERE person = :person AND id LIKE :begins ESCAPE '!'
           ORDER BY id LIMIT 2""",
        person=person,
        begins=f"{wanted.translate(LIKE_SIGNS)}%",
    )
    return get_by_partial_id(
        partial_id, ((row[0], parse_task_row(row)) for row in rows), noun="task"
    )


async def list_tasks(
    tx: Transaction,
    person: PersonId,
    *,
    statuses: Sequence[TaskStatus] = ACTIVE,
    now: Micros | None = None,
    limit: int = 2 * MAX_TASKS,
) -> list[Task]:
    """List the tasks of a person: the next due first, those without a time, then those delivered.

    With ``now``, of the delivered ones only those that were delivered or put back lately,
    or last until later.
    """
    names = {f"status{index}": status for index, status in enumerate(statuses)}
    rows = await tx.rows(
        f"""SELECT {READ_COLUMNS} FROM task WHERE person = :person
           AND status IN ({", ".join(f":{name}" for name in names)})
           AND (status <> 'delivered' OR delivered_at >= :since OR changed_at >= :since
             OR due_at + COALESCE(duration_s, 0) * :second >= :now)
           ORDER BY status = 'delivered', due_at IS NULL, due_at, created_at, id LIMIT :limit""",
        person=person,
        since=0 if now is None else now - SHOWN_FOR,
        now=now or 0,
        second=SECOND,
        limit=limit,
        **names,
    )
    return [parse_task_row(row) for row in rows]


async def list_unscheduled_tasks(tx: Transaction, *, limit: int) -> list[Task]:
    """List everybody's reminders to come that no job waits for."""
    rows = await tx.rows(
        f"""SELECT {READ_COLUMNS} FROM task
           WHERE status IN ('open', 'asking') AND due_at IS NOT NULL AND NOT EXISTS
             (SELECT 1 FROM job_key k WHERE k.queue = 'agenda'
              AND k.partition IN ('reminders/' || task.person, 'actions/' || task.person)
              AND k.key = task.id || '/' || CAST(task.due_at AS TEXT))
           ORDER BY due_at LIMIT :limit""",
        limit=limit,
    )
    return [parse_task_row(row) for row in rows]


def may_be_told_anew(earlier: Task, task: Task, *, since: Micros) -> bool:
    """Whether a reminder with a time may be one that was asked about in the same chat since then.

    Another one of the same message is another one.
    """
    is_asked = earlier.status == "asking" and task.status == "open" and task.due_at is not None
    is_here = task.chat is not None and earlier.chat == task.chat
    return is_asked and is_here and earlier.message != task.message and earlier.changed_at >= since


def is_same_task(known: Task, task: Task) -> bool:
    """Whether two tasks are one: the same words and time, or nearly so (ACCEPTANCE L3)."""
    if known.kind != task.kind or known.rrule != task.rrule or known.status != task.status:
        return False
    if known.due_at == task.due_at and known.text.casefold() == task.text.casefold():
        return True
    if known.due_at is None or task.due_at is None or abs(known.due_at - task.due_at) > NEAR:
        return False
    words, others = (get_significant_terms(each.text, task.language) for each in (task, known))
    is_within = words <= others or others <= words  # else each has a word of its own: it differs
    return is_within and min(len(words), len(others)) >= MIN_SHARED_WORDS


def get_significant_terms(text: str, language: str) -> set[int]:
    """Return the terms of a text that say what it is about."""
    return {to_term(each, language) for each in tokenize(text) if not is_stop_word(each, language)}


def advance(task: Task, *, now: Micros) -> Task:
    """Return a delivered task as it goes on: a series with its next time after now."""
    done = replace(task, status="open", question=None, delivered_at=now, changed_at=now)
    following = find_next_time(task, after=now)
    if following is None:
        return replace(done, status="delivered")
    return replace(done, due_at=following)


def find_next_time(task: Task, *, after: Micros) -> Micros | None:
    """Return when a series is due next after a moment; None if it is over, or no series."""
    if task.rrule is None or task.starts_at is None:
        return None
    start = from_micros(task.starts_at, task.zone).replace(tzinfo=None)
    return find_next(task.rrule, start, task.zone, after=after)


def list_begun_times(task: Task, *, since: Micros) -> list[Micros]:
    """List the times of a series with an end that came before its next one and last after a moment.

    What was skipped before it came is not among them.
    """
    if task.due_at is None or task.duration_s is None:
        return []
    lasts = (find_end(task, task.due_at) or task.due_at) - task.due_at
    times: list[Micros] = []
    at = find_next_time(task, after=since - lasts)
    while at is not None and at < task.due_at and len(times) < MAX_TASKS:
        if at <= task.spoken_of_at:
            times.append(at)
        at = find_next_time(task, after=at)
    return times


def catch_up(task: Task, *, now: Micros) -> Task:
    """Return a task as it stands by now: a series comes next, what is past was said."""
    if task.status == "delivered" or task.due_at is None or task.due_at > now:
        return task
    later = advance(task, now=now)
    return replace(later, delivered_at=task.delivered_at) if later.status == "open" else later


def dump_former(task: Task, fields: Sequence[str]) -> dict[str, JsonValue]:
    """Return some of what a task is, to set it back to later."""
    return {each: getattr(task, each) for each in fields}


def restore_former(task: Task, former: Mapping[str, JsonValue], *, now: Micros) -> Task:
    """Return a task as it was before a change, as it stands by now; what is not told stays.

    A question about its time goes if none was open then. Raises ValueError.
    """
    match former:
        case {
            "due_at": int() | None as due_at,
            "starts_at": int() | None as starts_at,
            "rrule": str() | None as rrule,
            "zone": str(zone),
            "is_date_only": bool(is_date_only),
        }:
            status = next((each for each in STATUSES if each == former.get("status")), task.status)
            is_moved = (due_at, rrule) != (task.due_at, task.rrule)
            time_words = former.get("time_words", "" if is_moved else task.time_words)
            duration_s = former.get("duration_s")  # before it was kept, nothing had one
            earlier = replace(
                task,
                text=str(former.get("text", task.text)),
                time_words=str(time_words),
                kind=next((each for each in KINDS if each == former.get("kind")), task.kind),
                status=status,
                question=task.question if former.get("is_asked", True) else None,
                due_at=due_at,
                starts_at=starts_at,
                rrule=rrule,
                zone=zone,
                is_date_only=is_date_only,
                duration_s=duration_s if isinstance(duration_s, int) else None,
                changed_at=now,
            )
            return catch_up(earlier, now=now) if earlier.is_active else earlier
    raise ValueError("no former task")


def parse_task_row(row: Row) -> Task:
    """Parse a row of READ_COLUMNS."""
    (
        task_id,
        person,
        chat,
        message,
        message_seq,
        text,
        time_words,
        language,
        kind,
        status,
        question,
        due_at,
        starts_at,
        zone,
        is_date_only,
        duration_s,
        rrule,
        created_at,
        changed_at,
        delivered_at,
        project,
        project_name,
    ) = row
    return Task(
        id=task_id,
        person=PersonId(person),
        chat=None if chat is None else ChatId(chat),
        message=None if message is None else MessageId(message),
        message_seq=message_seq,
        text=text,
        time_words=time_words,
        language=language,
        kind=next(each for each in KINDS if each == kind),
        status=next(each for each in STATUSES if each == status),
        question=question,
        due_at=due_at,
        starts_at=starts_at,
        zone=zone,
        is_date_only=bool(is_date_only),
        duration_s=duration_s,
        rrule=rrule,
        created_at=created_at,
        changed_at=changed_at,
        delivered_at=delivered_at,
        project=project,
        project_name=project_name,
    )


def is_id_of(task: Task, ids: set[str]) -> bool:
    """Whether one of some texts begins the id of a task."""
    return any(len(each) >= MIN_ID_CHARS and task.id.startswith(each) for each in ids)
