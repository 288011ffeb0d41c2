"""Goal requests: sets, lists and ends goals, as in "my goal is to run twice a week", "/goals"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros, from_micros, get_start_of_day
from oldfriend.domain.desk_scope import DeskScope
from oldfriend.domain.errors import StaleDecision
from oldfriend.goals.goal import Goal, GoalState, Progress
from oldfriend.goals.goal_desk import (
    MAX_TEXT_CHARS,
    GoalDecision,
    GoalDesk,
    GoalWishes,
    find_last_day,
)
from oldfriend.goals.goal_phrases import Ask, AskedGoal, GoalPhrases, load_goal_phrases
from oldfriend.goals.goal_store import (
    add_progress,
    find_goal,
    list_goals,
    remove_progress,
    save_goal,
)
from oldfriend.lang.language_pack import choose_language_with
from oldfriend.memory.people import lock_person
from oldfriend.memory.receipts import ReceiptItem
from oldfriend.proactive.look_planner import plan_next_look
from oldfriend.tasks.sentence_words import split_sentences
from oldfriend.tasks.task_phrases import TaskPhrases, load_task_phrases
from oldfriend.tasks.time_phrases import TimeResolver
from oldfriend.tasks.time_words import TimeWord
from oldfriend.tasks.told_time import Ambiguous, Resolved, collect
from oldfriend.turn.receipt_items import build_listed_item
from oldfriend.turn.request_handlers.handler import (
    MAX_SENTENCES,
    HandledRequest,
    HandlerContext,
    RequestHandler,
    list_told,
)
from oldfriend.turn.request_handlers.measurement_changes import decide_denial
from oldfriend.turn.request_handlers.measurement_texts import load_measurement_texts
from oldfriend.turn.request_handlers.request_kinds import (
    classify_request,
    find_request,
    list_clauses,
)
from oldfriend.turn.store_change import ChangeScope, StoreChange

NAME: Final = "goals"
COMMANDS: Final = frozenset({"/goal", "/goals"})
COMMAND: Final = re.compile(
    r"\s{0,9}/goals?(?:@\w{1,64})?(?:\s{1,9}(?P<rest>[^\n]{1,400}))?\s{0,9}", re.IGNORECASE
)
EDGES: Final = " ,;\uff0c"
BELOW_ZERO: Final = re.compile(r"(?<!\S)[-\u2212]\d")  # "-5 books" is no goal
SURELY_ASKED: Final = 0.7
"""How likely a question is about goals if it names none of them."""
MAYBE_ASKED: Final = 0.3
"""How likely a question must be about goals that names one of an amount."""
QUESTION_MARKS: Final = ("?", "？")
VERBS: Final[dict[str, Ask]] = {"done": "done", "drop": "drop", "did": "did", "undo": "undo"}


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalChange:
    """A goal as it is to be stored, as it was before, and what was done for it."""

    goal: Goal
    earlier: Goal | None = None
    progress: Progress | None = None
    taken_back: Progress | None = None

    async def apply(self, tx: Transaction, scope: ChangeScope) -> None:
        """Store it, and plan when it is asked about. Raises StaleDecision if it has changed.

        What was told already is kept to, unless the goal has been forgotten.
        """
        await lock_person(tx, scope.person.id)
        stored = await find_goal(tx, scope.person.id, self.goal.id)
        if stored != self.earlier and scope.may_redo:
            raise StaleDecision("The goal has changed meanwhile.")
        if stored is None and self.earlier is not None:
            return
        if self.goal != self.earlier:
            await save_goal(tx, replace(self.goal, changed_at=scope.now))
        if self.taken_back is not None:
            await remove_progress(tx, self.taken_back)
        if self.progress is not None:
            await add_progress(tx, self.progress)
        await plan_next_look(tx, scope.person.id, now=scope.now)


def fold_goal_changes(changes: Sequence[StoreChange]) -> tuple[StoreChange, ...]:
    """Return the changes of a turn, one for each goal: from what it was to what it becomes."""
    folded: dict[object, StoreChange] = {}
    for change in changes:
        key: object = change.goal.id if isinstance(change, GoalChange) else id(change)
        first = folded.get(key)
        if isinstance(change, GoalChange) and isinstance(first, GoalChange):
            progress = change.progress or first.progress
            change = replace(change, earlier=first.earlier, progress=progress)
        folded[key] = change
    return tuple(folded.values())


def apply_to_states(states: Sequence[GoalState], changes: Sequence[StoreChange]) -> list[GoalState]:
    """Return the goals as they will be after changes that a turn has decided."""
    listed = {each.goal.id: each for each in states}
    for change in changes:
        if isinstance(change, GoalChange):
            known = listed.get(change.goal.id, GoalState(goal=change.goal))
            step = () if change.progress is None else (change.progress,)
            listed[change.goal.id] = GoalState(goal=change.goal, progress=(*known.progress, *step))
    return list(listed.values())


async def handle_goal_request(context: HandlerContext) -> HandledRequest | None:
    """Handle what a message asks about goals."""
    text = context.text
    language = choose_language_with("goals", context.perception.language)
    command = COMMAND.fullmatch(text)
    if command is not None:
        desk = await open_desk(context, language)
        return run_command(desk, (command["rest"] or "").strip())
    sentences = split_sentences(text)
    languages = dict.fromkeys((language, context.utterance.message.language, "en"))
    for at, sentence in enumerate(sentences[:MAX_SENTENCES]):
        for each in map(load_goal_phrases, languages):
            asked = each.read(sentence)
            if asked is None or (asked.ask == "set" and not asked.what):
                continue
            desk = await open_desk(context, each.language)
            if asked.ask in {"done", "drop"} and not desk.find(asked.what):
                continue  # of a goal that was never set here, it is talk
            if asked.ask == "undo" and desk.take_back(asked.what) is None:
                continue
            rest = " ".join([*sentences[:at], *sentences[at + 1 :]])
            decision = decide(desk, asked, each)
            handled = replace(build_handled(desk, decision), is_whole_message=not rest, rest=rest)
            return await add_denial(context, handled, decision)
    return await handle_likely(context, language)


async def add_denial(
    context: HandlerContext, handled: HandledRequest, decision: GoalDecision
) -> HandledRequest:
    """Add that a number is taken out with what is no longer counted, if its message is denied."""
    gone = decision.taken_back
    if gone is None or gone.message is None:
        return handled
    message = context.utterance.message
    texts = load_measurement_texts(context.perception.offline_reply_language)
    async with context.db.begin_read() as tx:
        denied = await decide_denial(tx, message, gone.message, texts)
    if denied is None:
        return handled
    text = f"{handled.text}\n{denied.text}"
    return replace(handled, text=text, changes=(*handled.changes, denied.change))


async def handle_likely(context: HandlerContext, language: str) -> HandledRequest | None:
    """Handle what a message most likely asks about goals, whatever its words."""
    found = find_request(context.text, language, "goal_new", "goal_ask")
    if found is None:
        return await handle_total_question(context, language)
    if found.kind == "goal_new" and BELOW_ZERO.search(found.said):
        return None
    desk, phrases = await open_desk(context, language), load_goal_phrases(language)
    if found.kind == "goal_new":
        asked = AskedGoal(ask="set", what=find_goal_text(found.said, phrases))
        decision = decide(desk, asked, phrases)
    elif not desk.states:  # there is nothing to tell of, or to end
        return None
    elif desk.is_spoken_of(found.said) or found.share >= SURELY_ASKED:
        decision = GoalDecision(text=desk.tell(found.said))
    else:
        return None
    handled = build_handled(desk, decision)
    return replace(handled, is_whole_message=not found.rest, rest=found.rest)


async def handle_total_question(context: HandlerContext, language: str) -> HandledRequest | None:
    """Tell how far the goals of an amount are that a question names: "how much have I saved?"."""
    text = context.text
    if len(text) > MAX_TEXT_CHARS or not text.rstrip().endswith(QUESTION_MARKS):
        return None
    if classify_request(text, language)["goal_ask"] < MAYBE_ASKED:
        return None
    desk = await open_desk(context, language)
    asked = desk.list_totals_in(text)
    if not asked:
        return None
    told = "\n".join(map(desk.format_line, asked))
    return build_handled(desk, GoalDecision(text=told))


def find_goal_text(said: str, phrases: GoalPhrases) -> str:
    """Return the goal that words set: what stands behind a colon, if anything does."""
    _, _, behind = said.replace("\uff1a", ": ").partition(": ")
    return phrases.find_wanted(list_clauses(behind) or list_clauses(said))


def run_command(desk: GoalDesk, words: str) -> HandledRequest:
    """Decide what a command asks for; without words it lists."""
    phrases = load_goal_phrases(desk.scope.language)
    first, _, rest = words.partition(" ")
    verb = VERBS.get(first.lower())
    if not words or len(words) > MAX_TEXT_CHARS:
        text = desk.list() if not desk.states else f"{desk.list()}\n\n{desk.say('usage')}"
        return replace(build_handled(desk, GoalDecision(text=text)), is_command=True)
    asked = AskedGoal(ask="set", what=words) if verb is None else AskedGoal(ask=verb, what=rest)
    return replace(build_handled(desk, decide(desk, asked, phrases)), is_command=True)


def decide(desk: GoalDesk, asked: AskedGoal, phrases: GoalPhrases) -> GoalDecision:
    """Decide a request; of a new goal, the day by which it is to be reached is read."""
    if asked.ask != "set":
        return desk.handle(asked, GoalWishes())
    try:
        text, deadline = split_deadline(asked.what, phrases, desk.scope)
    except ValueError:
        return GoalDecision(text=desk.say("past_day"))
    pieces, period = phrases.find_pieces(text), phrases.find_running(text)
    if pieces is not None and pieces.is_bounded:
        period = pieces.rhythm.period
    if deadline is None and period is not None:
        today = from_micros(desk.scope.now, desk.scope.zone).date()
        last = find_last_day(today, period)
        days_back = (today - last).days - 1
        deadline = get_start_of_day(desk.scope.now, desk.scope.zone, days_back=days_back) - 1
    return desk.handle(replace(asked, what=text), GoalWishes(deadline=deadline))


def split_deadline(text: str, phrases: GoalPhrases, scope: DeskScope) -> tuple[str, Micros | None]:
    """Return the text of a goal without its day, and the end of that day; whole if it has none.

    Raises ValueError for a day that has passed.
    """
    times = load_task_phrases(phrases.language)
    resolver = TimeResolver(times.book, scope.told_at, scope.zone)
    for found in phrases.list_until(text):
        words = find_leading(times, text[found.end() :])
        told = collect(words)
        due = None if told is None or told.day is None or told.every else resolver.resolve(told)
        if isinstance(due, Ambiguous) and due.question == "past":
            raise ValueError("That day has passed.")
        if isinstance(due, Resolved):
            end = due.due_at
            if due.is_date_only:
                end = get_start_of_day(due.due_at, scope.zone, days_back=-1) - 1
            rest = text[found.end() + words[-1].end :].strip(EDGES)
            ending = phrases.until_end.match(rest)
            rest = rest if ending is None else rest[ending.end() :]
            wanted = f"{text[: found.start()].strip(EDGES)} {rest}".strip()
            return (wanted, end) if wanted else (text, None)
    return text, None


def find_leading(times: TaskPhrases, text: str) -> list[TimeWord]:
    """Return the words of a time with which a text begins."""
    leading: list[TimeWord] = []
    end = 0
    for word in sorted(times.book.find(text), key=lambda each: each.start):
        if times.drop_glue(text[end : word.start]):
            break
        leading.append(word)
        end = word.end
    return leading


async def open_desk(context: HandlerContext, language: str) -> GoalDesk:
    """Load a person's goals."""
    message, person = context.utterance.message, context.utterance.person
    async with context.db.begin_read() as tx:
        states = await list_goals(tx, person.id)
    scope = DeskScope(
        person=person.id,
        zone=message.zone,
        now=context.clock(),
        language=language,
        chat=message.chat,
        message=message.id,
        message_seq=message.seq,
        said_at=message.at,
    )
    return GoalDesk(scope, states, spoken=context.perception.fixed_language)


def build_handled(desk: GoalDesk, decision: GoalDecision) -> HandledRequest:
    """Build what was handled from a decision."""
    change = None
    if decision.goal is not None:
        change = GoalChange(
            goal=decision.goal,
            earlier=decision.earlier,
            progress=decision.progress,
            taken_back=decision.taken_back,
        )
    shown = [decision.earlier] if decision.earlier else []
    if change is None:
        shown = [each.goal for each in desk.states]
    return HandledRequest(
        name=NAME,
        text=decision.text,
        records=list_told_goals(desk, decision),
        changes=() if change is None else (change,),
        items=list_items(shown),
    )


def list_told_goals(desk: GoalDesk, decision: GoalDecision) -> tuple[str, ...]:
    """Return the ids of the goals of which a decision tells."""
    changed = () if decision.goal is None else (decision.goal.id,)
    known = ((each.goal.id, each.goal.text) for each in desk.states)
    return tuple(dict.fromkeys((*changed, *list_told(known, decision.text))))


def list_items(goals: list[Goal]) -> tuple[ReceiptItem, ...]:
    """Return the messages that set some goals, as what is told rests on."""
    messages = dict.fromkeys(each.message for each in goals if each.message is not None)
    return tuple(build_listed_item("message", each, 1) for each in messages)


GOAL_REQUESTS: Final = RequestHandler(name=NAME, handle=handle_goal_request, reads_questions=True)
