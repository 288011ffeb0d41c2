"""oldfriend jobs: lists waiting and failed jobs; retries or drops one."""

import argparse
import sys

from oldfriend.cli.open_context import is_interactive, open_from_options
from oldfriend.cli.output import ask, dumps, format_table
from oldfriend.db.database import Database
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.ids import PersonId
from oldfriend.domain.job_types import Job, QueueName
from oldfriend.domain.json import JsonValue
from oldfriend.domain.unicode_text import is_ascii_number
from oldfriend.inbound.failed_events import EVENT_JOB
from oldfriend.memory.people import list_people
from oldfriend.presenters.base_schema import format_count
from oldfriend.presenters.state_schemas import format_job_id, job_as_json
from oldfriend.queues.jobs_table import QUEUES, find_job
from oldfriend.queues.queue import drop_job, list_jobs, retry_dead_letter

MAX_LISTED = 1000
MAX_ERROR_CHARS = 100
USAGE_HELP = (
    "Use `oldfriend jobs` to list them, `oldfriend jobs retry ID` to try one again, or "
    "`oldfriend jobs drop ID` to give one up."
)

JobKey = tuple[QueueName, str, int]
PersonNames = dict[PersonId | None, str]


async def run(options: argparse.Namespace) -> int:
    """List jobs, retry a dead letter, or drop a job. Raises InvalidInput."""
    match options.what:
        case []:
            return await print_jobs(options)
        case ["retry", name]:
            return await retry_job(options, parse_job_id(name))
        case ["drop", name]:
            return await confirm_and_drop_job(options, parse_job_id(name))
        case ["retry" | "drop" as verb, *more]:
            raise InvalidInput(f"Name one job to {verb}, not {len(more)}. {USAGE_HELP}")
        case other:
            words = " ".join(other)[:40]
            raise InvalidInput(f"{words!r} is not something you can do with jobs. {USAGE_HELP}")


async def print_jobs(options: argparse.Namespace) -> int:
    """Print waiting jobs or dead letters, without their content."""
    async with open_from_options(options, create=False) as app:
        now, zone = app.clock(), app.settings.zone
        async with app.db.begin_read() as tx:
            jobs = await list_jobs(tx, is_dead_letter=options.failed, limit=MAX_LISTED)
            names: PersonNames = {person.id: person.name for person in await list_people(tx)}
    if options.json:
        rows: list[JsonValue] = [job_as_json(each, names.get(each.person), zone) for each in jobs]
        print(dumps(rows))
        return 0
    if not jobs:
        print("No job has failed." if options.failed else "No jobs are waiting.")
        return 0
    print(
        format_table(
            [
                ("job", "state", "since", "tried", "whose", "last error"),
                *(format_job_row(each, names.get(each.person, "-"), now, zone) for each in jobs),
            ],
            align_right=False,
        )
    )
    if len(jobs) == MAX_LISTED:
        print(f"… only the first {MAX_LISTED:,}.")
    return 0


async def retry_job(options: argparse.Namespace, job_key: JobKey) -> int:
    """Retry a dead letter."""
    async with open_from_options(options, create=False) as app:
        job = await get_job(app.db, job_key)
        if not job.is_dead_letter:
            print(f"{format_job_id(job)} has not failed; it will run by itself.")
            return 0
        try:
            async with app.db.begin_write() as tx:
                jobs = await retry_dead_letter(tx, *job_key, now=app.clock())
        except InvalidInput as error:
            return print_refusal(error)
    print(f"{format_job_id(job)} is waiting again{format_others(jobs)}.")
    return 0


async def confirm_and_drop_job(options: argparse.Namespace, job_key: JobKey) -> int:
    """Drop a job after asking."""
    async with open_from_options(options, create=False) as app:
        job = await get_job(app.db, job_key)
        if not (options.yes or confirm_drop(job)):
            print("Nothing was dropped.")
            return 1
        try:
            async with app.db.begin_write() as tx:
                jobs = await drop_job(tx, *job_key, now=app.clock())
        except InvalidInput as error:
            return print_refusal(error)
    print(f"{format_job_id(job)} was dropped{format_others(jobs)}.")
    return 0


def print_refusal(error: InvalidInput) -> int:
    """Print why it cannot be done now and return 1: the usage was right, so not exit code 2."""
    print(f"oldfriend: {error}", file=sys.stderr)
    return 1


def confirm_drop(job: Job) -> bool:
    """Ask the user at the terminal. Raises InvalidInput without one."""
    if not is_interactive():
        raise InvalidInput("Dropping a job cannot be undone. If you are sure, add --yes.")
    consequences = {
        "inbox": "What was said stays in the memory, but will not be answered.",
        "outbox": "The reply stays in the memory, but will not be sent.",
        "agenda": "This background work will not be done.",
    }
    is_event = job.partition.startswith(f"{EVENT_JOB}/")
    lost = "What was told there will not be in the memory." if is_event else ""
    print(f"{format_job_id(job)}: {lost or consequences[job.queue]}")
    try:
        return ask("Drop it? [y/N] ").strip().casefold() in {"y", "yes"}
    except EOFError:
        return False


async def get_job(db: Database, job_key: JobKey) -> Job:
    """Return the job with a key. Raises NotFound."""
    async with db.begin_read() as tx:
        job = await find_job(tx, *job_key)
    if job is None:
        raise NotFound("There is no such job; it may have finished. See: oldfriend jobs")
    return job


def parse_job_id(text: str) -> JobKey:
    """Parse a job's id into its key. Raises InvalidInput."""
    queue, _, rest = text.partition("/")
    partition, _, seq = rest.rpartition("/")
    for known in QUEUES:
        if queue == known and partition and is_ascii_number(seq) and len(seq) < 19:
            return known, partition, int(seq)
    raise InvalidInput(f"{text[:80]!r} is not the id of a job. To see the ids: oldfriend jobs")


def format_others(jobs: tuple[Job, ...]) -> str:
    """Format how many other jobs were affected."""
    others = len(jobs) - 1
    if others <= 0:
        return ""
    part, whole = ("message", "turn") if jobs[0].queue == "inbox" else ("part", "reply")
    return f", with {format_count(others, f'other {part}')} of its {whole}"


def format_state(job: Job, now: Micros, zone: str) -> str:
    """Format what a job waits for."""
    if job.is_dead_letter:
        return "failed"
    return "waiting" if job.due_at <= now else f"until {format_time(job.due_at, zone)}"


def format_time(at: Micros, zone: str) -> str:
    """Format a time to the minute."""
    return from_micros(at, zone).strftime("%Y-%m-%d %H:%M")


def format_job_row(job: Job, person_name: str, now: Micros, zone: str) -> tuple[str, ...]:
    """Format a job as a table row."""
    error = " ".join((job.error or "").split())[:MAX_ERROR_CHARS]
    since, tried = format_time(job.enqueued_at, zone), format_count(job.attempts, "time")
    return (format_job_id(job), format_state(job, now, zone), since, tried, person_name, error)
