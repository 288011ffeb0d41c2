"""Edited requests: a message that is edited after its answer moves what it asked for or told.

Its reminder gets the new time, its number the new value, its goal, watch or diary entry the new
words. What is
done, or that nothing is, is said in a message of its own, or in the new reply where the message is
answered anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from oldfriend.app.app_context import AppContext
from oldfriend.app.embed_messages import plan_embedding
from oldfriend.app.notifications import QUEUES
from oldfriend.db.database import Transaction
from oldfriend.diary.diary_reader import WrittenEntry, merge_tags
from oldfriend.diary.diary_reader import get_texts as get_diary_texts
from oldfriend.diary.diary_store import delete_entry, list_entries_of_message, save_entries
from oldfriend.domain.clock import Micros
from oldfriend.domain.desk_scope import DeskScope
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import PersonId
from oldfriend.domain.messages import Message
from oldfriend.goals.goal import Goal, GoalState
from oldfriend.goals.goal_desk import GoalDecision, GoalDesk
from oldfriend.goals.goal_phrases import AskedGoal, load_goal_phrases
from oldfriend.goals.goal_store import list_goals
from oldfriend.goals.goal_totals import find_total
from oldfriend.inbound.accept import update_message_text
from oldfriend.lang.command_menu import translate_command
from oldfriend.lang.language_pack import choose_language_with
from oldfriend.measurements.log_command import read_log_command
from oldfriend.measurements.measurement_reader import Moment
from oldfriend.measurements.measurement_store import (
    Measurement,
    delete_message_measurements,
    list_of_message,
)
from oldfriend.memory.message_log import get_message
from oldfriend.memory.people import get_person_by_id, lock_person
from oldfriend.memory.receipts import ReceiptItem
from oldfriend.prompts.locale_phrases import choose_language
from oldfriend.queues.inbox import InboxPayload
from oldfriend.replies.goal_progress import count_new, find_likely
from oldfriend.replies.unprompted_messages import UnpromptedMessage, send_unprompted
from oldfriend.tasks.asked_task import AskedTask
from oldfriend.tasks.reminder_jobs import schedule_reminder
from oldfriend.tasks.request_sentences import read_requests
from oldfriend.tasks.sentence_words import split_sentences
from oldfriend.tasks.task import STATUSES, Task
from oldfriend.tasks.task_desk import DeskDecision, TaskDesk
from oldfriend.tasks.task_phrases import load_task_phrases
from oldfriend.tasks.task_store import list_tasks, save_task
from oldfriend.turn.request_handlers.diary_requests import (
    build_entry,
    confirm_entry,
    read_written,
)
from oldfriend.turn.request_handlers.diary_requests import format_day as format_diary_day
from oldfriend.turn.request_handlers.goal_requests import COMMAND as GOAL_COMMAND
from oldfriend.turn.request_handlers.goal_requests import VERBS as GOAL_VERBS
from oldfriend.turn.request_handlers.goal_requests import GoalChange, find_goal_text
from oldfriend.turn.request_handlers.goal_requests import decide as decide_goal
from oldfriend.turn.request_handlers.handled_tasks import list_told_tasks
from oldfriend.turn.request_handlers.measurement_changes import (
    correct_in_place,
    is_correction,
    take_out,
)
from oldfriend.turn.request_handlers.measurement_requests import MeasurementDesk, find_own_words
from oldfriend.turn.request_handlers.measurement_texts import load_measurement_texts
from oldfriend.turn.request_handlers.request_kinds import find_request
from oldfriend.turn.request_handlers.task_requests import read_command
from oldfriend.turn.store_change import ChangeScope
from oldfriend.turn.task_changes import place_in_project
from oldfriend.turn.watch_requests import MAX_TEXT_CHARS, read_asked_limit, read_watch
from oldfriend.watches.watch_phrases import AskedWatch, load_watch_phrases
from oldfriend.watches.watch_store import list_watches, save_watch, schedule_watch


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowedEdit:
    """What the new words of a message have changed."""

    desk: TaskDesk
    text: str  # that tells it; empty: nothing has changed


async def follow_edit(
    tx: Transaction, app: AppContext, person: PersonId, payload: InboxPayload
) -> None:
    """Move the reminders that a message had asked for as its new words ask, and say so."""
    await lock_person(tx, person)
    try:
        message = await get_message(tx, person, payload.message)
    except NotFound:
        return  # forgotten meanwhile
    is_own = message.role == "person" and message.trust == "person"
    if not is_own or message.version != payload.version:
        return
    now = app.clock()
    followed = await apply_edit(tx, message, now=now)
    if followed is not None and followed.text:
        await send_unprompted(tx, app, person, build_message(message, followed), now=now)


async def apply_edit(tx: Transaction, message: Message, *, now: Micros) -> FollowedEdit | None:
    """Make the changes that the new words of a message ask for; None if they ask for nothing."""
    person = message.person
    made = [
        each
        for each in await list_tasks(tx, person, statuses=STATUSES)
        if each.message == message.id
    ]
    asked, language = read_new_words(message)
    taken_back = [each for each in made if not asked and await is_taken_back(tx, message, each)]
    others = [
        *await follow_numbers(tx, message, now=now),
        *await follow_goals(tx, message, now=now),
        *await follow_watches(tx, message, now=now),
        *await follow_diary(tx, message, now=now),
    ]
    if not made and not asked and not others:
        return None
    desk = TaskDesk(
        replace(build_scope(message, language=language, now=now), said_at=message.at),
        load_task_phrases(language),
        await list_tasks(tx, person, now=now),
    )
    decisions = [
        *(desk.cancel(each) for each in taken_back if each.is_active),
        *decide_edit(desk, message, [each for each in made if each not in taken_back], asked),
    ]
    for each in decisions:
        for task, earlier in each.saved:
            placed = task if earlier is not None else await place_in_project(tx, task)
            await save_task(tx, placed)
            await schedule_reminder(tx, placed, now=now)
    return FollowedEdit(desk=desk, text="\n".join([*(each.text for each in decisions), *others]))


async def edit_answered(app: AppContext, message: Message, text: str) -> tuple[Message, str]:
    """Reword a message that was answered, and do what its new words ask.

    Return it with a text that tells what was done, for a new reply. Raises NotFound, InvalidInput.
    """
    now = app.clock()
    async with app.db.begin_write() as tx:
        await lock_person(tx, message.person)
        edited = await update_message_text(
            tx, app.clock, app.settings, message.person, message.id, text
        )
        followed = await apply_edit(tx, edited, now=now)
        await plan_embedding(tx, now=now)
    app.notifier.notify(*QUEUES)
    return edited, "" if followed is None else followed.text


async def follow_numbers(tx: Transaction, message: Message, *, now: Micros) -> list[str]:
    """Keep the numbers that new words tell in place of those of the old ones, and say which."""
    person = await get_person_by_id(tx, message.person)
    moment = Moment(at=message.at, zone=message.zone)
    language = message.language or choose_language(person.language)
    kept = await list_of_message(tx, person.id, message.id)
    if is_correction(message.text, moment, language):
        changed = correct_in_place(message, moment, kept, language)
        if changed is not None:
            scope = ChangeScope(person=person, message=message, now=now)
            await changed.change.apply(tx, scope)
        return [] if changed is None else [changed.text]
    await delete_message_measurements(tx, person.id, [message.id])
    desk = MeasurementDesk(tx=tx, person=person.id, message=message, moment=moment)
    command, texts = read_log_command(message.text), load_measurement_texts(language)
    told = (
        await desk.record_told(find_own_words(message.text, language), language)
        if command is None
        else await desk.handle_command(command, texts, language)
    )
    if told is None or not told.changes:
        return [take_out(kept, texts, words_stay=False).text] if kept else []
    for each in told.changes:
        await each.apply(tx, ChangeScope(person=person, message=message, now=now))
    new = await list_of_message(tx, person.id, message.id)
    return [] if tell_values(new) == tell_values(kept) else [told.text]


async def follow_goals(tx: Transaction, message: Message, *, now: Micros) -> list[str]:
    """Have the goals of a message, and what it counts for, be as its new words say."""
    language = choose_language_with("goals", message.language)
    scope = build_scope(message, language=language, now=now)
    desk = GoalDesk(scope, await list_goals(tx, message.person))
    made = [each.goal for each in desk.states if each.goal.message == message.id]
    asked = read_goals(message.text, language)
    decisions: list[GoalDecision] = []
    if made or asked:
        decisions = decide_goal_edit(desk, message, made, asked)
    else:
        decisions = [found for each in desk.states if (found := recount(desk, each, message))]
    person = await get_person_by_id(tx, message.person)
    for each in decisions:
        if each.goal is not None:
            change = GoalChange(
                goal=each.goal,
                earlier=each.earlier,
                progress=each.progress,
                taken_back=each.taken_back,
            )
            await change.apply(tx, ChangeScope(person=person, message=message, now=now))
    return [each.text for each in decisions]


def read_goals(text: str, language: str) -> list[str]:
    """Return the goals that a message sets, in words."""
    command = GOAL_COMMAND.fullmatch(translate_command(text))
    if command is not None:
        words = (command["rest"] or "").strip()
        return [words] if words and words.split()[0].lower() not in GOAL_VERBS else []
    phrases = load_goal_phrases(language)
    read = [phrases.read(each) for each in split_sentences(text)]
    set_ones = [each.what for each in read if each is not None and each.ask == "set" and each.what]
    found = find_request(text, language, "goal_new") if not any(read) else None
    return set_ones if found is None else [find_goal_text(found.said, phrases)]


def decide_goal_edit(
    desk: GoalDesk, message: Message, made: list[Goal], asked: list[str]
) -> list[GoalDecision]:
    """Decide what becomes of the goals of a message; those that cannot be told apart stay."""
    phrases = load_goal_phrases(desk.scope.language)
    if not asked:
        related = desk.find_related(message.text) if desk.is_spoken_of(message.text) else []
        kept = {each.goal.id for each in related}
        return [desk.end(each, "abandoned") for each in made if each.id not in kept]
    if not made:
        return [decide_goal(desk, AskedGoal(ask="set", what=each), phrases) for each in asked]
    if len(made) != 1 or len(asked) != 1:
        return []
    known = made[0]
    desk.states = [each for each in desk.states if each.goal.id != known.id]
    decision = decide_goal(desk, AskedGoal(ask="set", what=asked[0]), phrases)
    if decision.goal is None:
        return [decision]
    new = decision.goal
    later = replace(known, text=new.text, rhythm=new.rhythm, deadline=new.deadline)
    if later == known:
        return []
    return [replace(decision, goal=replace(later, changed_at=new.changed_at), earlier=known)]


def recount(desk: GoalDesk, goal_state: GoalState, message: Message) -> GoalDecision | None:
    """Count what a message tells for a goal, or no more; None if that has not changed."""
    amount = count_new(goal_state, message, now=desk.scope.now)
    is_likely = not amount and find_total(goal_state.goal) is None
    is_done = amount > 0 or (is_likely and find_likely(desk, message.text) == [goal_state])
    steps = [each for each in goal_state.progress if each.message == message.id]
    if is_done and amount and steps and steps[0].amount != amount:
        others = tuple(each for each in goal_state.progress if each not in steps)
        counted = desk.count(replace(goal_state, progress=others), amount)
        step = counted.progress and replace(counted.progress, at=steps[0].at)
        return replace(counted, progress=step, taken_back=steps[0])
    moment = Moment(at=message.at, zone=message.zone)
    is_fix = bool(steps) and is_correction(message.text, moment, message.language)
    if is_done == bool(steps) or is_fix:
        return None
    if is_done:
        return desk.count(goal_state, amount or None)
    last = replace(
        goal_state,
        progress=(*(each for each in goal_state.progress if each not in steps), steps[0]),
    )
    return GoalDesk(replace(desk.scope, now=steps[0].at), [last]).take_back("1")


async def follow_watches(tx: Transaction, message: Message, *, now: Micros) -> list[str]:
    """Have the watch of a message wait for what its new words say, or end it."""
    made = [each for each in await list_watches(tx, message.person) if each.message == message.id]
    if len(made) != 1:
        return []
    watch = made[0]
    phrases = load_watch_phrases(message.language)
    asked, url = read_watch(message.text, phrases)
    limit = read_asked_limit(message.text, phrases.language) if watch.number else None
    if watch.number is not None and limit is not None:
        asked = AskedWatch(ask="watch", condition=limit.condition, threshold=limit.value)
        url = limit.to_source(watch.number.unit)
    if asked is None:
        later = replace(watch, status="ended", changed_at=now)
    else:
        later = replace(
            watch,
            text=message.text.strip()[:MAX_TEXT_CHARS],
            url=url,
            condition=asked.condition,
            threshold=asked.threshold,
        )
        if later == watch:
            return []
        later = replace(later, seen="", amount=None, next_check_at=now, changed_at=now)
    await save_watch(tx, later)
    await schedule_watch(tx, later, now=now)
    return [phrases.tell_ended(watch) if asked is None else phrases.confirm(later)]


async def follow_diary(tx: Transaction, message: Message, *, now: Micros) -> list[str]:
    """Change or remove the diary entry of an edited message, and say which.

    An entry that the person has changed since stays, and one that they took out stays out.
    """
    language = choose_language_with("diary", message.language)
    of_message = await list_entries_of_message(tx, message.person, message.id)
    known = [each for each in of_message if each.origin == "told"]
    wrote: list[WrittenEntry | None] = []
    for version in range(1, message.version):
        said = await get_message(tx, message.person, message.id, version=version)
        wrote.append(read_written(said.text, choose_language_with("diary", said.language)))
    written = read_written(message.text, language)
    before, texts = wrote[-1] if wrote else None, get_diary_texts(language)
    if (written and written.text) == (before and before.text):
        return []
    own_texts = {each.text for each in wrote if each is not None}
    if any(each.text not in own_texts for each in known):
        return [texts["stays"].format(day=format_diary_day(known[0].day, language))]
    if written is None:
        for each in known:
            await delete_entry(tx, message.person, each.id)
        return [texts["removed"].format(day=format_diary_day(each.day, language)) for each in known]
    if before is not None and not known:
        return []
    entry = build_entry(written, message.person, message)
    if known:
        entry = replace(
            known[0],
            text=written.text,
            tags=merge_tags(known[0].tags, known[0].text, written.text),
            modified_at=now,
            message_seq=message.seq,
        )
    await save_entries(tx, message.person, [entry])
    return [confirm_entry(entry, language)]


def tell_values(measured: Sequence[Measurement]) -> set[tuple[object, ...]]:
    """Return what numbers say, whenever they were told."""
    return {(each.name, each.day, each.value, each.unit, each.second_value) for each in measured}


def read_new_words(message: Message) -> tuple[list[AskedTask], str]:
    """Return the reminders and to-dos that a message asks for, and the language that asks."""
    language = choose_language_with("tasks", message.language)
    command = read_command(message.text)
    if command is not None:
        phrases = load_task_phrases(language)
        is_reminder = command[0] == "remind" and bool(command[1])
        return [phrases.read_command_reminder(command[1])] if is_reminder else [], language
    phrases, asked, _ = read_requests(message.text, (language, "en"))
    return [each for each in asked if each.action in {"remind", "todo"}], phrases.language


async def is_taken_back(tx: Transaction, message: Message, task: Task) -> bool:
    """Tell whether a message says again what it said before an edit of it made a task."""
    for version in range(1, message.version):
        said = await get_message(tx, message.person, message.id, version=version)
        if task.message_seq is None or said.seq >= task.message_seq:
            return False
        if said.text.split() == message.text.split():
            return True
    return False


def build_scope(message: Message, *, language: str, now: Micros) -> DeskScope:
    """Return the scope of what a message asks for."""
    return DeskScope(
        person=message.person,
        zone=message.zone,
        now=now,
        language=language,
        chat=message.chat,
        message=message.id,
        message_seq=message.seq,
    )


def decide_edit(
    desk: TaskDesk, message: Message, made: Sequence[Task], asked: Sequence[AskedTask]
) -> list[DeskDecision]:
    """Decide what becomes of the tasks of a message; those that cannot be told apart stay."""
    if not made:
        return [found for each in asked if (found := desk.handle(each)) is not None]
    is_one = len(made) == len(asked) == 1
    if all(each.status not in {"open", "asking"} for each in made):
        return decide_late_edit(desk, made, asked)
    decisions: list[DeskDecision] = []
    for task in made:
        if task.status not in {"open", "asking"}:
            continue
        meant = [each for each in asked if is_one or each.what.casefold() == task.text.casefold()]
        changed = reword(desk, message, task, meant[0]) if len(meant) == 1 else None
        if changed is None and not asked and task.status == "asking":
            decisions.append(desk.drop_question(task))
        elif changed is None:
            decisions.append(DeskDecision(text=desk.wording.confirm(task)))
        elif tell_set(changed) != tell_set(task):
            decisions.append(desk.replace(task, changed, word_change(desk, changed)))
    return decisions


def tell_set(task: Task) -> tuple[object, ...]:
    """Return what a task is set to, or asked about."""
    return task.text, task.due_at, task.rrule, task.question


def decide_late_edit(
    desk: TaskDesk, made: Sequence[Task], asked: Sequence[AskedTask]
) -> list[DeskDecision]:
    """Set what new words ask for after what the message had asked for was over.

    Where they only say the same time in another way, nothing is set, which is said.
    """
    times = {each.time_words.casefold() for each in made}
    texts = {each.text.casefold() for each in made}
    new = [each for each in asked if each.time_words.casefold() not in times]
    if new:
        return [found for each in new if (found := desk.handle(each)) is not None]
    is_reworded = any(each.what.casefold() not in texts for each in asked)
    return [DeskDecision(text=desk.wording.say("edited_late"))] if is_reworded else []


def reword(desk: TaskDesk, message: Message, task: Task, asked: AskedTask) -> Task | None:
    """Return a task as new words ask for it; None if they say nothing to be reminded of."""
    if not asked.what:
        return None
    reworded = replace(
        task,
        text=asked.what,
        time_words=asked.time_words,
        message_seq=message.seq,
        changed_at=desk.scope.now,
    )
    is_time_kept = asked.time_words.casefold() == task.time_words.casefold()
    is_settled = asked.action == "todo" or is_time_kept
    return reworded if is_settled else desk.set_time(reworded, asked.told)


def word_change(desk: TaskDesk, task: Task) -> str:
    """Say what a task has become."""
    if task.status == "asking" or task.due_at is None:
        return desk.wording.confirm(task)
    return desk.wording.confirm_move(task)


def build_message(message: Message, followed: FollowedEdit) -> UnpromptedMessage:
    """Return the message that says what an edit has changed."""
    desk = followed.desk
    return UnpromptedMessage(
        text=followed.text,
        dedup_key=f"edit/{message.id}/{message.version}",
        kind="reminder",
        reason=desk.wording.say("reason_edited"),
        language=desk.scope.language,
        items=(
            ReceiptItem(
                kind="message",
                object=message.id,
                version=message.version,
                used=True,
                score=0.0,
                reasons=(),
            ),
        ),
        records=list_told_tasks(desk.tasks, followed.text),
        chat=message.chat,
    )
