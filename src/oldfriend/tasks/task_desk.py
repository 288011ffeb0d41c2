"""Task desk: decides what becomes of a person's tasks, and words it; stores nothing itself."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, time, timedelta
from functools import cached_property

from oldfriend.domain.clock import DAY, HOUR, MINUTE, Micros, from_micros
from oldfriend.domain.desk_scope import DeskScope
from oldfriend.domain.ids import new_random_id
from oldfriend.search.tokenizer import tokenize
from oldfriend.tasks.asked_task import AskedTask
from oldfriend.tasks.offered_times import add_answer, resolve_beside
from oldfriend.tasks.recurrence import find_next
from oldfriend.tasks.series_moves import move_once, move_series
from oldfriend.tasks.series_phrases import DAY_HOUR
from oldfriend.tasks.snooze_times import SnoozeChoice, resolve_choice
from oldfriend.tasks.task import Task, TaskStatus, list_about, list_last
from oldfriend.tasks.task_phrases import TaskPhrases
from oldfriend.tasks.task_store import MAX_TASKS, catch_up, is_id_of, is_same_task, may_be_told_anew
from oldfriend.tasks.task_wording import TaskWording, encode_question
from oldfriend.tasks.time_phrases import TimeResolver
from oldfriend.tasks.told_time import (
    Ambiguous,
    Resolved,
    Told,
    choose_option,
    decode_guess,
    tell_option,
)

RECENT = HOUR
"""What was set, changed or delivered within this time may be called "it"."""
ANSWER_WITHIN = 10 * MINUTE
"""How long a question may be answered, if other things are said meanwhile."""
MAX_ANSWER_CHARS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskDecision:
    """What is said, and which tasks are stored in place of which."""

    text: str
    saved: tuple[tuple[Task, Task | None], ...] = field(default=())
    is_full: bool = False


class TaskDesk:
    """A person's tasks at a moment."""

    def __init__(self, desk_scope: DeskScope, phrases: TaskPhrases, tasks: Sequence[Task]) -> None:
        """Take the active tasks, in the order of the list."""
        self.scope = desk_scope
        self.phrases = phrases
        self.tasks = list(tasks)
        self.wording = TaskWording(desk_scope.language, zone=desk_scope.zone, now=desk_scope.now)

    @cached_property
    def resolver(self) -> TimeResolver:
        """What resolves times by the clock."""
        return TimeResolver(self.phrases.book, self.scope.now, self.scope.zone)

    def resolve(self, told: Told | None, by: TimeResolver | None = None) -> Resolved | Ambiguous:
        """Return the time that is told, as of when it was said, or what to ask."""
        at = self.scope.told_at
        found = (by or TimeResolver(self.phrases.book, at, self.scope.zone)).resolve(told)
        if isinstance(found, Ambiguous) or found.due_at > self.scope.now:
            return found
        return self.resolver.resolve(told) if found.rrule else Ambiguous(question="past")

    def handle(self, asked: AskedTask) -> DeskDecision | None:
        """Decide what a sentence asks for; None if it turns out to ask for nothing here."""
        if asked.action == "remind":
            return self.add_reminder(asked)
        if asked.action == "todo":
            return self.add(self.build(asked.what, kind="todo"))
        if asked.action == "list":
            return self.tell_listed(asked)
        return self.handle_known(asked, self.find(asked))

    def tell_stale(self) -> DeskDecision:
        """Say that what a button was for has changed meanwhile."""
        return DeskDecision(text=self.wording.say("stale"))

    def tell_listed(self, asked: AskedTask) -> DeskDecision | None:
        """List the tasks: all, those that words name, or what there is to buy, if anything is."""
        listed = [each for each in self.tasks if each.kind == "todo" or not asked.deed]
        listed = self.find(asked) if asked.ref else listed
        if not listed and (asked.ref or asked.deed):
            return DeskDecision(text=self.wording.say("not_found")) if asked.ref else None
        return DeskDecision(text=self.wording.list_tasks(listed, among=self.tasks))

    def handle_known(self, asked: AskedTask, found: Sequence[Task]) -> DeskDecision | None:
        """Decide what is asked for about one of the tasks; None if it is about none of them."""
        if len(found) == 1:
            return self.handle_one(found[0], asked)
        if not found and asked.is_last:
            nothing = DeskDecision(text=self.wording.say("nothing_to_snooze"))
            return nothing if asked.is_sure else None
        if asked.is_maybe and not (found and asked.action == "change"):
            return None
        if not found:
            return DeskDecision(text=self.wording.say("not_found"))
        lines = self.wording.list_tasks(found).partition("\n")[2]
        return DeskDecision(text=f"{self.wording.say('which')}\n{lines}")

    def handle_one(self, task: Task, asked: AskedTask) -> DeskDecision:
        """Decide what becomes of a task."""
        if asked.action not in {"done", "cancel"}:
            return self.move(task, asked)
        end = self.finish if asked.action == "done" else self.cancel
        return self.end_part(task, asked) or end(task)

    def choose(self, asked: AskedTask, answer: str) -> DeskDecision | None:
        """Do with one of several tasks what was asked before it was named; None: it is not."""
        found = [] if asked.action in {"remind", "todo", "list"} else self.find(asked)
        if len(found) < 2 or len(answer) > MAX_ANSWER_CHARS:
            return None
        known = self.phrases.answer(answer, among=("never_mind", "first", "second"))
        if known == "never_mind":
            return DeskDecision(text=self.wording.say("unchanged"))
        if known in {"first", "second"}:
            return self.handle_one(found[known == "second"], asked)
        desk = TaskDesk(self.scope, self.phrases, found)
        named = desk.find(replace(asked, ref=answer, is_last=False))
        return self.handle_one(named[0], asked) if len(named) == 1 else None

    def build(self, what: str, *, kind: str = "reminder") -> Task:
        """Return a new task."""
        scope = self.scope
        return Task(
            id=new_random_id(),
            person=scope.person,
            chat=scope.chat,
            message=scope.message,
            message_seq=scope.message_seq,
            text=what,
            language=scope.language,
            kind="todo" if kind == "todo" else "reminder",
            zone=scope.zone,
            created_at=scope.now,
            changed_at=scope.now,
        )

    def add(self, task: Task) -> DeskDecision:
        """Put a task on the list, unless it is there or the list is full."""
        if (same := self.tell_same(task)) is not None:
            return DeskDecision(text=same)
        if sum(each.status != "delivered" for each in self.tasks) >= MAX_TASKS:
            return DeskDecision(text=self.wording.say("full"), is_full=True)
        since = self.scope.told_at - ANSWER_WITHIN
        superseded = [
            each
            for each in self.tasks
            if may_be_told_anew(each, task, since=since)
            and self.phrases.is_told_anew(each.text, task.text)
        ]
        dropped = [self.cancel(each) for each in superseded]
        self.tasks.append(task)
        told = [
            each.text
            for each, earlier in zip(dropped, superseded, strict=True)
            if earlier.text.casefold() != task.text.casefold()
        ]
        return DeskDecision(
            text="\n".join([self.wording.confirm(task), *told]),
            saved=((task, None), *(pair for each in dropped for pair in each.saved)),
        )

    def tell_same(self, task: Task) -> str | None:
        """Say that the list has a task that is to be set; None if it has not."""
        others = (each for each in self.tasks if each.id != task.id and task.status == "open")
        same = next((each for each in others if is_same_task(each, task)), None)
        at = "" if same is None else self.wording.format_listed_time(same)
        return None if same is None else self.wording.say("exists", text=same.text, at=at)

    def add_reminder(self, asked: AskedTask) -> DeskDecision:
        """Put a reminder on the list, or ask for its time."""
        if not asked.what:
            if asked.told is not None and asked.told.words:
                asked = replace(asked, what=self.phrases.reminder_name)
            else:
                return DeskDecision(text=self.wording.say("what"))
        task = replace(self.build(asked.what), time_words=asked.time_words)
        return self.add(self.set_time(task, asked.told))

    def set_time(self, task: Task, told: Told | None) -> Task:
        """Return a task with its time, or with the question about it.

        If nobody answers, it comes at the earlier of two times, or the next morning.
        """
        found = self.resolve(told)
        if isinstance(found, Ambiguous):
            asking = replace(task, status="asking", question=encode_question(found))
            return self.with_time(asking, self.find_earliest(told, found))
        return self.with_time(replace(task, status="open", question=None), found)

    def with_time(self, task: Task, found: Resolved) -> Task:
        """Return a task with a time."""
        return replace(
            task,
            kind=task.timed_kind,
            zone=self.scope.zone,
            due_at=found.due_at,
            is_date_only=found.is_date_only,
            duration_s=task.duration_s if task.is_date_only == found.is_date_only else None,
            rrule=found.rrule,
            starts_at=found.due_at if found.rrule else None,
        )

    def find_earliest(self, told: Told | None, asked: Ambiguous) -> Resolved:
        """Return the earliest time that may have been meant, which cannot be too late."""
        if told is not None and len(asked.options) == 2:
            for option in asked.options:
                found = self.resolve(told.updated(tell_option(option)))
                if isinstance(found, Resolved):
                    return found
        morning = datetime.combine(self.resolver.today, time(DAY_HOUR)) + timedelta(days=1)
        return Resolved(due_at=self.resolver.to_micros(morning))

    def find(self, asked: AskedTask) -> list[Task]:
        """Return the tasks that words, a number or an id name."""
        if asked.is_last:
            return self.find_last(asked)
        wanted = self.phrases.content_words(asked.ref)
        if wanted.isdecimal() and 1 <= int(wanted) <= len(self.tasks):
            return [self.tasks[int(wanted) - 1]]
        ids = {wanted, asked.ref.strip().lower()}  # of an id no word is cut
        by_id = [each for each in self.tasks if is_id_of(each, ids)]
        if by_id:
            return by_id
        by_time = self.find_by_time(asked.ref)
        if by_time:
            return by_time
        words = set(tokenize(wanted))

        def is_meant(task: Task) -> bool:
            return not asked.deed or self.phrases.is_deed_of(asked.deed, wanted, task.text)

        named = {each.id: set(tokenize(each.text)) for each in self.tasks if is_meant(each)}
        best = max((len(words & each) for each in named.values()), default=0)
        found = [
            each
            for each in self.tasks
            if each.id in named and best and len(words & named[each.id]) == best
        ]
        if not found:
            return list_about(self.tasks, wanted, self.phrases.language)
        is_enough = 2 * best >= len(words) or any(named[each.id] <= words for each in found)
        if asked.is_maybe:  # a word in common is little, unless it is being spoken of
            found = [
                each
                for each in found
                if self.is_near(each)
                or 2 * best > len(named[each.id])
                or self.phrases.is_got(asked.deed, wanted, each.text)
            ]
        return found if is_enough else []

    def is_near(self, task: Task) -> bool:
        """Whether a task was delivered, set or changed a while ago."""
        is_delivered = (task.delivered_at or 0) >= self.scope.now - DAY
        return is_delivered or task.changed_at >= self.scope.now - RECENT

    def find_by_time(self, ref: str) -> list[Task]:
        """Return the tasks that are due at an hour, "the ten o'clock one"."""
        told = self.phrases.read_time(self.phrases.content_words(ref))
        if told is None or told.clock is None:
            return []
        part = told.part.entry["part"] if told.part else None
        minutes = set(self.resolver.list_times(told.clock, part))
        timed = [each for each in self.tasks if not each.is_date_only]
        dues = [(from_micros(each.due_at, self.scope.zone), each) for each in timed if each.due_at]
        return [each for due, each in dues if 60 * due.hour + due.minute in minutes]

    def find_last(self, asked: AskedTask) -> list[Task]:
        """Return the task that was spoken of a while ago, or each that "the last one" may be."""
        if asked.is_newest:
            return list_last(self.tasks)
        since = self.scope.now - (DAY if asked.is_again else RECENT)
        if asked.action in {"done", "snooze"}:
            day_ago = self.scope.now - DAY
            heard = [each for each in self.tasks if (each.delivered_at or 0) >= day_ago]
            if heard or asked.action == "done":
                return sorted(heard, key=lambda task: task.delivered_at or 0)[-1:]
        recent = [each for each in self.tasks if each.spoken_of_at >= since]
        return sorted(recent, key=lambda each: each.spoken_of_at)[-1:]

    def finish(self, task: Task) -> DeskDecision:
        """Mark a task as done; a series goes on."""
        now = self.scope.now
        following = self.skip_time(task)
        if following is not None:
            when = self.wording.format_task_time(following)
            return self.replace(
                task, following, self.wording.say("done_series", text=task.text, when=when)
            )
        done = replace(task, status="done", changed_at=now)
        return self.replace(task, done, self.wording.confirm(done))

    def end_part(self, task: Task, asked: AskedTask) -> DeskDecision | None:
        """End only the things that words name of several; None: they name all of it."""
        is_done = asked.action == "done"
        is_named = asked.is_maybe if is_done else not asked.is_last
        split = self.phrases.split_part(task.text, asked.ref, is_all=not is_done)
        if split is None or not is_named:
            return None
        (part, left), number = split, self.tasks.index(task) + 1
        name = "done_part" if is_done else "cancelled_part"
        if is_done and task.rrule is not None:
            name, left = "part_of_series", task.text
        text = self.wording.say(name, part=part, text=left, number=number)
        later = replace(task, text=left, changed_at=self.scope.now)
        return self.replace(task, later, text) if left != task.text else DeskDecision(text=text)

    def reopen(self, task: Task) -> DeskDecision:
        """Put a task that was ended back on the list, as it stands there by now."""
        if task.is_active or len(self.tasks) >= MAX_TASKS:
            return DeskDecision(text=self.wording.say("not_found" if task.is_active else "full"))
        is_said = task.rrule is None and (task.delivered_at or 0) >= (task.due_at or 1)
        status: TaskStatus = "asking" if task.question else "delivered" if is_said else "open"
        opened = replace(task, status=status, changed_at=self.scope.now)
        opened = catch_up(opened, now=self.scope.now)
        self.tasks.append(opened)
        return DeskDecision(text=self.wording.confirm(opened), saved=((opened, task),))

    def skip_time(self, task: Task) -> Task | None:
        """Return a series without the time that is nearest; None if it is over, or was none."""
        if task.rrule is None or task.status != "open" or task.due_at is None:
            return None
        now = self.scope.now
        if task.delivered_at is not None and now - task.delivered_at <= task.due_at - now:
            return task
        start = from_micros(task.starts_at or task.due_at, task.zone).replace(tzinfo=None)
        due_at = find_next(task.rrule, start, task.zone, after=task.due_at)
        return None if due_at is None else replace(task, due_at=due_at, changed_at=now)

    def cancel(self, task: Task) -> DeskDecision:
        """Take a task off the list."""
        cancelled = replace(task, status="cancelled", changed_at=self.scope.now)
        return self.replace(task, cancelled, self.wording.confirm(cancelled))

    def move(self, task: Task, asked: AskedTask) -> DeskDecision:
        """Give a task another time."""
        told = asked.told
        if told is not None and not told.words:
            return DeskDecision(text=self.wording.say("when_then"))
        is_heard = asked.is_last and task.spoken_of_at > task.changed_at
        is_amount = told is not None and told.amount is not None
        is_snooze = asked.action == "snooze" or is_heard or (asked.is_last and is_amount)
        by = self.find_resolver(task, asked)
        words = asked.time_words if by is None else task.time_words
        found = self.resolve(told, by=by)
        if (
            not is_snooze
            and told is not None
            and {each.kind for each in told.words} <= {"clock", "part"}
        ):
            found = self.resolver.resolve_hour_near(task.due_at, told) or found
        if not is_snooze and isinstance(found, Resolved):
            found = self.keep_hour(task, found)
        if isinstance(found, Ambiguous):
            return self.ask_about_move(task, found, asked)
        return self.move_to(task, found, is_snooze=is_snooze, told=told, words=words)

    def find_resolver(self, task: Task, asked: AskedTask) -> TimeResolver | None:
        """Return what resolves another time of a task: "for an hour" is from when it is due."""
        is_heard = (task.delivered_at or 0) >= self.scope.now - DAY
        is_ahead = task.status == "open" and (task.due_at or 0) > self.scope.now
        if not asked.is_by_amount or not is_ahead or is_heard or task.due_at is None:
            return None
        return TimeResolver(self.phrases.book, task.due_at, self.scope.zone)

    def put_off(self, task: Task, choice: SnoozeChoice) -> DeskDecision:
        """Put a task off by one of the choices that buttons offer."""
        found = resolve_choice(choice, self.resolver)
        if found is None:
            return DeskDecision(text=self.wording.say("evening_over"))
        return self.move_to(task, found, is_snooze=True)

    def ask_about_move(self, task: Task, found: Ambiguous, asked: AskedTask) -> DeskDecision:
        """Ask about the time that a task is to have; until it is answered, it keeps its own."""
        words = asked.time_words
        question = f"{encode_question(found)}\n{asked.action} {words}"
        if task.status == "asking":
            asking = self.set_time(replace(task, time_words=words), self.phrases.read_time(words))
        else:
            asking = replace(task, question=question, chat=self.scope.chat or task.chat)
        asking = replace(asking, changed_at=self.scope.now)
        return self.replace(task, asking, self.wording.ask(asking))

    def move_to(
        self,
        task: Task,
        found: Resolved,
        *,
        is_snooze: bool,
        told: Told | None = None,
        words: str = "",
    ) -> DeskDecision:
        """Put a task off, or change its time; of a series for good only where that is clear."""
        if is_snooze and task.rrule is None and task.duration_s is not None:
            settled = replace(task, due_at=found.due_at, starts_at=task.begins_at)
        elif task.rrule is None or (found.rrule and not is_snooze):
            settled = self.with_time(task, replace(found, rrule=None) if is_snooze else found)
            settled = replace(settled, time_words=words)
        elif is_snooze:
            settled = move_once(task, found)
        elif (series := move_series(task, found, told, self.scope)) is not None:
            settled = series
        else:
            return DeskDecision(text=self.wording.say("several_hours", text=task.text))
        moved = replace(
            settled,
            status="open",
            question=None,
            changed_at=self.scope.now,
            chat=self.scope.chat or task.chat,
        )
        is_once = task.rrule is not None and replace(task, due_at=found.due_at) == settled
        text = self.wording.confirm_move(moved, is_snooze=is_snooze, is_once=is_once)
        return self.replace(task, moved, text)

    def keep_hour(self, task: Task, found: Resolved) -> Resolved | Ambiguous:
        """Return another day with the hour that a task has, if it has one."""
        if not found.is_date_only or found.rrule or task.begins_at is None or task.is_date_only:
            return found
        hour = from_micros(task.begins_at, self.scope.zone).time()
        day = from_micros(found.due_at, self.scope.zone).date()
        due_at = self.resolver.to_micros(datetime.combine(day, hour))
        return Resolved(due_at=due_at) if due_at > self.scope.now else Ambiguous(question="past")

    def replace(self, earlier: Task, later: Task, text: str) -> DeskDecision:
        """Decide that one task takes the place of another."""
        if later.is_active:
            self.tasks = [later if each.id == earlier.id else each for each in self.tasks]
        else:
            self.tasks = [each for each in self.tasks if each.id != earlier.id]
        return DeskDecision(text=text, saved=((later, earlier),))

    def answer(
        self, task: Task, text: str, *, said_at: Micros | None = None
    ) -> DeskDecision | None:
        """Complete a task with the answer to the question about its time; None: it is no answer.

        ``said_at``: when the words that were asked about were said, if before the question.
        """
        if len(text) > MAX_ANSWER_CHARS:
            return None
        known = self.phrases.answer(text)
        if known == "never_mind":
            return self.drop_question(task)
        question, _, asked = (task.question or "").partition("\n")
        action, _, asked_words = asked.partition(" ")
        words = task.time_words if task.status == "asking" else asked_words
        name, *options = question.split(" ")
        offered = decode_guess(options[0], self.scope.zone, DAY_HOUR) if name == "guess" else None
        if offered is not None and (known == "yes" or text in options):
            return self.accept(task, offered, action)
        told = choose_option(name, options, known, text) or self.phrases.read_answer(text)
        if told is None:
            return None
        beside = None if offered is None else resolve_beside(self.resolver, offered, told)
        if beside is not None:
            return self.accept(task, beside, action)
        is_hour = offered is not None and {each.kind for each in told.words} <= {"clock", "part"}
        old = self.read_told("" if is_hour else name, words)  # of a series that was offered
        merged = told if old is None else old.updated(told)
        words = add_answer(self.phrases.book, words, text)
        desk = self
        if told.day is None and told.amount is None:  # "tomorrow" is that of the question
            asked_at = min(task.changed_at, self.scope.told_at, said_at or task.changed_at)
            scope = replace(self.scope, now=asked_at, said_at=None)
            desk = TaskDesk(scope, self.phrases, self.tasks)
        decision = desk.settle(task, merged, words, action)
        (later, _), *_ = decision.saved
        if later.due_at is not None and later.due_at <= self.scope.now:
            return self.settle(task, told, text, action)
        return decision

    def accept(self, task: Task, found: Resolved, action: str) -> DeskDecision:
        """Give a task the time that was asked about, unless it has passed or is set already."""
        now = self.scope.now
        if found.due_at <= now:
            asking = replace(task, question="past", changed_at=now)
            return self.replace(task, asking, self.wording.ask(asking))
        if task.status != "asking":
            return self.move_to(task, found, is_snooze=action == "snooze")
        opened = self.with_time(replace(task, status="open", question=None, changed_at=now), found)
        if (same := self.tell_same(opened)) is not None:
            return self.replace(task, replace(opened, status="cancelled"), same)
        return self.replace(task, opened, self.wording.confirm(opened))

    def drop_question(self, task: Task) -> DeskDecision:
        """Drop a new reminder whose time was asked about; one that has a time keeps it."""
        kept = replace(task, question=None, changed_at=self.scope.now)
        if task.status == "open":
            return self.replace(task, kept, self.wording.confirm(kept))
        dropped = kept if task.status == "delivered" else replace(kept, status="cancelled")
        return self.replace(task, dropped, self.wording.say("dropped"))

    def settle(self, task: Task, told: Told, words: str, action: str) -> DeskDecision:
        """Give a task the time that was asked about."""
        if task.status != "asking":
            is_snooze = action == "snooze"
            moved = AskedTask(
                action="snooze" if is_snooze else "change", told=told, time_words=words
            )
            return self.move(task, moved)
        found = self.set_time(replace(task, time_words=words), told)
        completed = replace(found, changed_at=self.scope.now)
        return self.replace(task, completed, self.wording.confirm(completed))

    def read_told(self, name: str, words: str) -> Told | None:
        """Return what was told of the time before, without what was in doubt."""
        told = self.phrases.read_time(words)
        if told is None or name in {"past", "no_such_day", "several", "guess"}:
            return None
        return replace(told, vague=None) if name == "when" else told
