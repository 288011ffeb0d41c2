"""Cancel-all requests: "cancel everything", or all about a thing, done only at the person's yes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import zip_longest
from typing import Final, Literal, get_args

from oldfriend.domain.clock import from_micros
from oldfriend.domain.ids import new_id
from oldfriend.goals.goal_phrases import load_goal_pack
from oldfriend.goals.goal_store import list_goals
from oldfriend.lang.chinese_variants import to_simplified
from oldfriend.lang.command_menu import CommandMenu, read_command
from oldfriend.lang.language_pack import choose_language_with, list_languages
from oldfriend.llm.model import ToolCall
from oldfriend.search.tokenizer import collect_content_terms
from oldfriend.tasks.task import Task
from oldfriend.tasks.task_phrases import EDGES, load_task_phrases
from oldfriend.tasks.task_store import list_tasks
from oldfriend.tasks.task_wording import TaskWording, load_task_pack
from oldfriend.turn.request_handlers.agenda_requests import find_day
from oldfriend.turn.request_handlers.handler import (
    HandledRequest,
    HandlerContext,
    RequestHandler,
)
from oldfriend.turn.request_handlers.request_kinds import (
    FoundRequest,
    RequestKind,
    find_named,
    find_request,
)
from oldfriend.watches.watch_store import list_watches

Listed = Literal["reminder", "todo", "goal", "watch"]
LISTED: Final[tuple[Listed, ...]] = get_args(Listed)
"""What can be ended at once: things done at a time are called reminders, too."""
Extent = frozenset[Listed]
EVERYTHING: Final[Extent] = frozenset(LISTED)
TASKS: Final[Extent] = frozenset({"reminder", "todo"})
MAX_CHARS: Final = 100
SURELY_GOAL: Final = 0.75
"""How likely a goal is to be dropped where none is named: most that drop one only tell of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelAll:
    """What is to be ended: all of some kinds, or only what is about something."""

    extent: Extent
    ref: str = ""  # what it is about, in the person's words
    language: str = ""  # of the request
    rest: str = ""  # what the message says beside it
    is_likely: bool = False  # guessed, not read


def read_cancel_all(text: str, language: str) -> CancelAll | None:
    """Return what a whole text wants to have ended; None for any other text."""
    spoken = text.replace("\u2019", "'").replace(",", " ")
    plain = to_simplified(" ".join(spoken.split())).strip(EDGES)
    if not plain or len(plain) > MAX_CHARS:
        return None
    for code in sorted(list_languages("tasks"), key=lambda each: each != language):
        for extent, patterns in load_patterns(code).items():
            found = next(filter(None, (each.fullmatch(plain) for each in patterns)), None)
            if found is not None:
                ref = found.groupdict().get("ref", "")
                return CancelAll(extent=extent or get_extent(found), ref=ref, language=code)
    return None


def get_extent(found: re.Match[str]) -> Extent:
    """Return what kind of entries a request names that says what they are about."""
    named = {name.removesuffix("s") for name, value in found.groupdict().items() if value}
    if "any" in named and "todo" not in named:
        return TASKS
    return frozenset({"todo"}) if "todo" in named else frozenset({"reminder"})


def read_extent(text: str, language: str) -> Extent:
    """Return what a text names that wants all of it ended; everything if it names nothing."""
    plain = to_simplified(text.lower())
    nouns = load_nouns(choose_language_with("tasks", language))
    return frozenset(each for each, said in nouns.items() if said.search(plain)) or EVERYTHING


@cache
def load_nouns(language: str) -> Mapping[Listed, re.Pattern[str]]:
    """Compile what a language calls the things that can be ended."""
    nouns: Mapping[Listed, str] = load_task_pack(language)["cancel_all"]["nouns"]
    return {each: re.compile(said) for each, said in nouns.items()}


@cache
def load_patterns(language: str) -> Mapping[Extent | None, Sequence[re.Pattern[str]]]:
    """Compile how everything is ended in a language; None: what is about something."""
    said = load_task_pack(language)["cancel_all"]
    extents: Mapping[str, Extent | None] = {
        "everything": EVERYTHING,
        **{each: frozenset({each}) for each in LISTED},
        "about": None,
    }
    return {
        extent: [re.compile(each, re.IGNORECASE) for each in said.get(name, ())]
        for name, extent in extents.items()
    }


def select_tasks(tasks: Sequence[Task], extent: Extent) -> list[Task]:
    """Return the tasks that are meant."""
    return [each for each in tasks if ("todo" if each.kind == "todo" else "reminder") in extent]


NAME: Final = "cancel all"
CANCEL_ALL: Final = "cancel_all_tasks"
"""The tool that does it."""
MAX_SHOWN: Final = 30
URL_WORDS: Final = re.compile(r"[^\w\s]+|_")
"""What stands between the words of an address."""
ENDED: Final[Mapping[RequestKind, Extent]] = {
    "reminder_cancel": TASKS,
    "goal_cancel": frozenset({"goal"}),
    "watch_cancel": frozenset({"watch"}),
}
"""What a likely wish to end something may mean."""


async def handle_cancel_all(context: HandlerContext) -> HandledRequest | None:
    """Ask whether to end all that is open now, all of some kinds, or all about something."""
    is_command = read_command(context.text) is not None
    asked = read_cancelled(context)
    if asked is None:
        return None
    now, language = context.clock(), context.perception.reply_language
    say = CommandMenu.load(language).say
    listed = await list_open(context, asked, language)
    if not listed and asked.is_likely:
        return None
    if not listed:
        wording = TaskWording(language, zone=context.utterance.message.zone, now=now)
        text = wording.say("not_found") if asked.ref else say["cancel_all_none"]
        return HandledRequest(name=NAME, text=text, is_command=is_command)
    request = ask_to_cancel(context, listed, say)
    return replace(request, is_whole_message=not asked.rest, rest=asked.rest or None)


async def handle_likely_cancel(context: HandlerContext) -> HandledRequest | None:
    """Ask whether to end what a message most likely wants to have ended, and names."""
    language = context.perception.language
    found = find_request(context.text, language, *ENDED)
    if found is None:
        return None
    extent = ENDED[found.kind]
    listed = await list_open(context, CancelAll(extent=extent), context.perception.reply_language)
    named = find_named(
        found.said, {each: URL_WORDS.sub(" ", line) for each, line in listed}, language
    )
    meant = [(each, line) for each, line in listed if each in named]
    if not meant:
        return None if found.kind != "goal_cancel" else tell_no_goal(context, found, listed)
    say = CommandMenu.load(context.perception.reply_language).say
    request = ask_to_cancel(context, meant, say)
    return replace(request, is_whole_message=not found.rest, rest=found.rest or None)


def tell_no_goal(
    context: HandlerContext, found: FoundRequest, listed: Sequence[tuple[str, str]]
) -> HandledRequest | None:
    """Tell that no goal is the one that surely is to be dropped; a model needs not be told."""
    if found.share < SURELY_GOAL:
        return None
    say = load_goal_pack(choose_language_with("goals", context.perception.reply_language))["say"]
    return HandledRequest(
        name=NAME, text=say["not_found" if listed else "empty"], rest=found.rest, is_fallback=True
    )


def ask_to_cancel(
    context: HandlerContext, listed: Sequence[tuple[str, str]], say: Mapping[str, str]
) -> HandledRequest:
    """Return the question whether to end some things, each with the line that shows it."""
    now = context.clock()
    lines = [line for _, line in listed[:MAX_SHOWN]]
    if len(listed) > MAX_SHOWN:
        lines.append(say["cancel_all_more"].format(count=len(listed) - MAX_SHOWN))
    question = say["cancel_all_ask" if len(listed) > 1 else "cancel_all_ask_one"]
    ids = tuple(each for each, _ in listed)
    call = ToolCall(id=new_id(now), name=CANCEL_ALL, arguments={"ids": " ".join(ids)})
    return HandledRequest(
        name=NAME,
        text="\n".join([*lines, "", question.format(count=len(listed))]),
        records=ids,
        is_command=True,
        asked_call=call,
    )


async def list_open(
    context: HandlerContext, asked: CancelAll, language: str
) -> list[tuple[str, str]]:
    """Return the id of each open thing that is meant, with the line that shows it."""
    now, message = context.clock(), context.utterance.message
    async with context.db.begin_read() as tx:
        listed = await list_tasks(tx, message.person, now=now)
        goals = await list_goals(tx, message.person) if "goal" in asked.extent else []
        watches = await list_watches(tx, message.person) if "watch" in asked.extent else []
    tasks = select_about(context, select_tasks(listed, asked.extent), asked)
    wording = TaskWording(language, zone=message.zone, now=now)
    lines = wording.list_tasks(tasks[:MAX_SHOWN]).splitlines()[1:] if tasks else []
    shown = zip_longest((each.id for each in tasks), lines[: len(tasks)], fillvalue="")
    others = [
        *((each.goal.id, each.goal.text) for each in goals if each.goal.is_open(now)),
        *((each.id, each.url) for each in watches),
    ]
    numbered = enumerate(others, len(tasks) + 1)
    return [*shown, *((each, f"{number}. {text}") for number, (each, text) in numbered)]


def read_cancelled(context: HandlerContext) -> CancelAll | None:
    """Return what a message wants to have cancelled, in words or behind "/cancel"."""
    language, command = context.perception.language, read_command(context.text)
    if command is None:
        return read_cancel_all(context.text, language) or read_likely(context.text, language)
    if command.name != "cancel":
        return None
    words = command.words.strip()
    is_all = words.lower() in {"all", "*"}
    return CancelAll(extent=EVERYTHING) if is_all else read_cancel_all(f"cancel {words}", "en")


def read_likely(text: str, language: str) -> CancelAll | None:
    """Return what a text most likely wants ended; it has to name what: "make it stop" does not."""
    found = find_request(text, language, "cancel_all")
    extent = EVERYTHING if found is None else read_extent(found.said, language)
    if found is None or extent == EVERYTHING:
        return None
    return CancelAll(extent=extent, rest=found.rest, is_likely=True)


def select_about(context: HandlerContext, tasks: Sequence[Task], asked: CancelAll) -> list[Task]:
    """Return those tasks that are of the day, or hold the words, that a request names."""
    if not asked.ref:
        return [*tasks]
    now, zone = context.clock(), context.utterance.message.zone
    day = find_day(asked.ref, asked.language, now=now, zone=zone)
    if day is not None:
        timed = [(each, each.due_at) for each in tasks if each.due_at is not None]
        return [each for each, at in timed if from_micros(at, zone).date() == day]
    named = load_task_phrases(asked.language).content_words(asked.ref)
    words = collect_content_terms(named, asked.language)
    return [
        each
        for each in tasks
        if words and words <= collect_content_terms(each.text, asked.language)
    ]


LIKELY_CANCEL_REQUESTS: Final = RequestHandler(name=NAME, handle=handle_likely_cancel)
CANCEL_ALL_REQUESTS: Final = RequestHandler(name=NAME, handle=handle_cancel_all, only_acts=True)
