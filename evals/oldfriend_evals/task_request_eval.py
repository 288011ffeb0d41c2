"""Task requests: how reliably phrases of strangers become the reminders that they mean, offline.

A case says when and where it was said, and what is right: a reminder with its first time and its
recurrence, a to-do, a question back, or nothing. Silently wrong is a reminder at another time than
meant, or one that nobody asked for; a question back, or nothing understood, is merely missed.

    python -m oldfriend_evals.task_request_eval [FILE ...]

A file holds a case a line: ``{"id": "en-1", "language": "en", "said_at": "2026-06-16T21:30:00",
"zone": "Europe/Madrid", "message": "…", "expect": {…}}``. What is expected has a ``kind``:
"reminder" with ``due`` (local; with ``"date_only": true`` a date alone), ``rrule`` (or null) and
``about``, pieces that its text must have; "todo" with ``about``; "ask"; or "none".
"""

import asyncio
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal

from dateutil.rrule import rrulestr

from oldfriend.app.app_context import AppContext
from oldfriend.domain.clock import DAY, MINUTE, Micros, from_micros, parse_timestamp
from oldfriend.domain.ids import ChatId, PersonId, new_random_id
from oldfriend.domain.messages import UnloggedMessage
from oldfriend.inbound.accept import open_local_chat
from oldfriend.memory.message_log import WriteTarget, write_message
from oldfriend.memory.people import ensure_companion, get_person_by_id
from oldfriend.memory.sessions import ensure_open_session
from oldfriend.tasks.task import Task
from oldfriend.tasks.task_store import save_task
from oldfriend.turn.intent import Addressee, perceive
from oldfriend.turn.request_handlers.handler import HandledRequest, HandlerContext
from oldfriend.turn.request_handlers.task_requests import handle_task_request
from oldfriend.turn.store_change import ChangeScope
from oldfriend.turn.task_changes import SaveTask
from oldfriend.turn.turn_outcome import Utterance
from oldfriend_evals.bench_measures import Measure, Scope
from oldfriend_evals.temporary_stores import open_temporary_store

MATERIAL: Final = Path(__file__).parent / "task_request_cases.jsonl"
TALK: Final = Path(__file__).parent / "task_talk.jsonl"
TALK_TIME: Final = {"said_at": "2026-11-29T09:00:00", "zone": "Europe/Madrid"}
OPEN_TASKS: Final = ("Stamps", "Piano")
"""What else is on the list of who talks about a task."""
OCCURRENCES: Final = 5
"""Times of a series that are compared."""
NOON: Final = 12

Handle = Callable[[HandlerContext], Awaitable[HandledRequest | None]]
Grade = Literal["right", "asked", "missed", "wrong time", "wrong series", "wrong text", "invented"]
SILENTLY_WRONG: Final[frozenset[Grade]] = frozenset(
    {"wrong time", "wrong series", "wrong text", "invented"}
)


async def say(
    app: AppContext,
    case: Mapping[str, Any],
    number: int,
    handle: Handle,
    *,
    is_stored: bool = False,
    known: Callable[[PersonId, ChatId, Micros], Sequence[Task]] | None = None,
) -> HandledRequest | None:
    """Return what becomes of one message, said by a person who has some tasks."""
    now = parse_timestamp(case["said_at"], case["zone"])[0]
    line = await open_local_chat(
        app.db, app.clock, app.settings, person=f"Person {number}", channel="terminal"
    )
    async with app.db.begin_write() as tx:
        place = WriteTarget(
            chat=line.chat, session=await ensure_open_session(tx, line.chat, now), turn=None
        )
        spoken = UnloggedMessage(
            role="person",
            speaker=line.person.name,
            text=case["message"],
            at=now,
            zone=case["zone"],
            trust="person",
        )
        message = await write_message(tx, place, spoken, now=now, is_searchable=True)
        companion = await ensure_companion(tx, now=now)
        person = await get_person_by_id(tx, line.person.id)
        for task in known(person.id, line.chat.id, now) if known else ():
            await save_task(tx, task)
    assert message is not None
    utterance = Utterance(
        message=message,
        person=replace(person, zone=case["zone"]),
        companion=companion,
        is_first_in_chat=False,
        addressee=Addressee(name=companion.name, languages=(case["language"], "en")),
    )
    handled = await handle(
        HandlerContext(
            utterance=utterance,
            perception=perceive(utterance.own_words, utterance.addressee),
            db=app.db,
            clock=lambda: now,
        )
    )
    if handled is not None and is_stored:
        async with app.db.begin_write() as tx:
            for change in handled.changes:
                await change.apply(tx, ChangeScope(person=person, message=message, now=now))
    return handled


async def decide(app: AppContext, case: Mapping[str, Any], number: int) -> tuple[list[Task], str]:
    """Return what one message is understood to ask for, and what is told about it."""
    handled = await say(app, case, number, handle_task_request)
    if handled is None:
        return [], ""
    changes = (each for each in handled.changes if isinstance(each, SaveTask))
    return [each.task for each in changes], handled.text


def grade(case: Mapping[str, Any], tasks: list[Task]) -> Grade:
    """Compare what was understood with what is right."""
    expect = case["expect"]
    set_tasks = [each for each in tasks if each.due_at is not None and each.status == "open"]
    if expect["kind"] == "todo":
        return grade_todo(expect["about"], tasks)
    if expect["kind"] != "reminder":
        if set_tasks:
            return "invented"
        is_asking = any(each.status == "asking" for each in tasks)
        if expect["kind"] == "none":
            return "invented" if tasks else "right"
        return "right" if is_asking else "missed"
    if not set_tasks:
        return "asked" if tasks else "missed"
    task = set_tasks[0]
    assert task.due_at is not None
    due = from_micros(task.due_at, case["zone"]).replace(tzinfo=None)
    if not is_time_right(expect, due):
        return "wrong time"
    if not is_series_right(expect, task, due):
        return "wrong series"
    return "right" if has_all(task, expect["about"]) else "wrong text"


def grade_todo(about: Sequence[str], tasks: Sequence[Task]) -> Grade:
    """Compare what was understood with a to-do, which has no time."""
    if any(each.due_at is not None and each.status == "open" for each in tasks):
        return "invented"
    noted = [each for each in tasks if each.status == "open"]
    if not noted:
        return "asked" if tasks else "missed"
    return (
        "right"
        if all(any(has_all(each, [word]) for each in noted) for word in about)
        else ("wrong text")
    )


def has_all(task: Task, about: Sequence[str]) -> bool:
    """Whether the text of a task has some pieces."""
    return all(each.lower() in task.text.lower() for each in about)


def is_time_right(expect: Mapping[str, Any], due: datetime) -> bool:
    """Tell whether a reminder is due when it should; of a day without an hour, any hour counts."""
    if expect.get("date_only"):
        return due.date() == date.fromisoformat(expect["due"])
    return abs(due - datetime.fromisoformat(expect["due"])) < timedelta(minutes=1)


def is_series_right(expect: Mapping[str, Any], task: Task, due: datetime) -> bool:
    """Tell whether a series falls on the days and hours that it should."""
    if not expect.get("rrule") or not task.rrule:
        return bool(expect.get("rrule")) == bool(task.rrule)
    meant = list_times(expect["rrule"], due)
    return meant == list_times(task.rrule, due)


def list_times(rule: str, start: datetime) -> list[datetime]:
    """List the first times of a series."""
    times: list[datetime] = []
    for each in rrulestr(rule, dtstart=start):
        times.append(each)
        if len(times) == OCCURRENCES:
            break
    return times


async def grade_all(
    cases: Iterable[Mapping[str, Any]],
) -> list[tuple[Mapping[str, Any], Grade, list[Task], str]]:
    """Grade all cases, each said by somebody else."""
    async with open_temporary_store() as app:
        graded = []
        for number, case in enumerate(cases):
            tasks, text = await decide(app, case, number)
            graded.append((case, grade(case, tasks), tasks, text))
    return graded


def read_cases(paths: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """Read cases from files of JSON lines."""
    for path in paths:
        for line in path.read_text("utf-8").splitlines():
            if line.strip():
                yield json.loads(line)


async def grade_talk(
    cases: Iterable[Mapping[str, Any]],
) -> list[tuple[Mapping[str, Any], Grade, list[Task], str]]:
    """Grade what is said about a list of tasks, of which one was delivered a minute before."""
    async with open_temporary_store() as app:
        graded: list[tuple[Mapping[str, Any], Grade, list[Task], str]] = []
        for number, each in enumerate(cases):
            case = {**TALK_TIME, **each}

            def list_known(
                person: PersonId, chat: ChatId, now: Micros, case: Mapping[str, Any] = case
            ) -> Sequence[Task]:
                return build_known_tasks(case, person, chat, now)

            handled = await say(app, case, number, handle_task_request, known=list_known)
            changes = () if handled is None else handled.changes
            tasks = [change.task for change in changes if isinstance(change, SaveTask)]
            graded.append(
                (case, grade_change(case, handled, tasks), tasks, handled.text if handled else "")
            )
    return graded


def build_known_tasks(
    case: Mapping[str, Any], person: PersonId, chat: ChatId, now: Micros
) -> Sequence[Task]:
    """Build the tasks of who talks about them."""
    about = " ".join(case["expect"].get("about", ())) or "Bicycle"
    delivered = Task(
        id=new_random_id(),
        person=person,
        chat=chat,
        text=about,
        language=case["language"],
        kind="reminder",
        status="delivered",
        due_at=now - MINUTE,
        delivered_at=now - MINUTE,
        zone=case["zone"],
        created_at=now - DAY,
        changed_at=now - MINUTE,
    )
    others = [
        replace(
            delivered,
            id=new_random_id(),
            text=text,
            status="open",
            due_at=now + DAY,
            delivered_at=None,
            changed_at=now - DAY,
        )
        for text in OPEN_TASKS
    ]
    return [delivered, *others]


def grade_change(
    case: Mapping[str, Any], handled: HandledRequest | None, tasks: Sequence[Task]
) -> Grade:
    """Compare what was changed with what was asked for."""
    expect = case["expect"]
    if expect["kind"] == "none":
        return "right" if handled is None else "invented"
    if handled is None:
        return "missed"
    if expect["kind"] == "list":
        is_listed = not tasks and all(each in handled.text for each in OPEN_TASKS)
        return "right" if is_listed else "wrong text" if tasks else "missed"
    if not tasks:
        return "missed"
    (task,) = tasks
    if task.text in OPEN_TASKS or task.status == "asking":
        return "asked" if task.status == "asking" else "wrong text"
    if expect["kind"] in {"done", "cancel"}:
        status = {"done": "done", "cancel": "cancelled"}[expect["kind"]]
        return "right" if task.status == status else "wrong text"
    if task.status != "open" or task.due_at is None:
        return "wrong text"
    return "right" if is_moved_right(case, task.due_at) else "wrong time"


def is_moved_right(case: Mapping[str, Any], due_at: Micros) -> bool:
    """Tell whether a task was put off to when it should."""
    expect, now = case["expect"], parse_timestamp(case["said_at"], case["zone"])[0]
    due = from_micros(due_at, case["zone"])
    if "minutes" in expect:
        return bool(abs(due_at - now - expect["minutes"] * MINUTE) < MINUTE)
    if "due_hint" in expect:
        return bool(f"{due:%H:%M}" == expect["due_hint"])
    return due.date() == from_micros(now + DAY, case["zone"]).date() and due.hour < NOON


async def measure_task_requests(scope: Scope) -> list[Measure]:
    """Measure the cases in the repository, which are training material."""
    del scope
    return [
        build_measure("task requests: right", await grade_all(read_cases([MATERIAL]))),
        build_measure("task talk: right", await grade_talk(read_cases([TALK]))),
    ]


def build_measure(
    name: str, graded: Sequence[tuple[Mapping[str, Any], Grade, list[Task], str]]
) -> Measure:
    """Build the measure of some graded cases."""
    count = Counter(grade for _, grade, _, _ in graded)
    wrong = sum(count[each] for each in SILENTLY_WRONG)
    return Measure(
        name=name,
        value=count["right"] / len(graded),
        unit="of all",
        note=f"{len(graded)} phrases in five languages, looked at; {wrong} silently wrong",
    )


def report(graded: Iterable[tuple[Mapping[str, Any], Grade, list[Task], str]]) -> Iterator[str]:
    """Yield each case that is not right, the grades of each language, and of all."""
    by_language: dict[str, Counter[Grade]] = defaultdict(Counter)
    for case, found, tasks, text in graded:
        by_language[case["language"]][found] += 1
        if found != "right":
            yield f"{case['id']} {found}: {case['message']!r}\n    meant {case['expect']}"
            yield f"    took {[describe(each, case) for each in tasks]} {text!r}"
    for language, count in by_language.items():
        yield f"{language} {dict(count)}"
    total = sum(by_language.values(), Counter[Grade]())
    wrong = sum(total[each] for each in SILENTLY_WRONG)
    yield f"right {total['right']} of {total.total()}, silently wrong {wrong}, {dict(total)}"


def describe(task: Task, case: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a task as it was understood, due as the person's clocks show it."""
    due = "" if task.due_at is None else f"{from_micros(task.due_at, case['zone']):%Y-%m-%dT%H:%M}"
    return task.status, task.text, due, task.rrule or ""


def main() -> None:
    """Grade the cases of some files, or those in the repository; "--talk": about a list."""
    is_talk = sys.argv[1:2] == ["--talk"]
    paths = [Path(each) for each in sys.argv[1 + is_talk :]] or [TALK if is_talk else MATERIAL]
    grade_cases = grade_talk if is_talk else grade_all
    for line in report(asyncio.run(grade_cases(read_cases(paths)))):
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
