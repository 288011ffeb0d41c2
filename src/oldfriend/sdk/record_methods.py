"""Record methods: the part of ``Memory`` that keeps reminders, to-dos, goals and watches.

They are on the person's list like any other; a process that serves or works sends the reminders.
"""

from typing import TypeAlias

from oldfriend.domain.errors import InvalidInput
from oldfriend.goals.goal import STATUSES as GOAL_STATUSES
from oldfriend.goals.goal_desk import GoalWishes
from oldfriend.goals.goal_edits import GoalAction, GoalEdit, add_goal, edit_goal
from oldfriend.goals.goal_store import list_goals
from oldfriend.presenters.goal_schemas import GoalSchema
from oldfriend.presenters.task_schemas import TaskSchema
from oldfriend.presenters.watch_schemas import WatchSchema
from oldfriend.proactive.look_planner import plan_next_look
from oldfriend.sdk.input_validation import (
    TimeInput,
    parse_amount,
    parse_bound,
    parse_flag,
    parse_optional_text,
    parse_text,
)
from oldfriend.sdk.open_memory import OpenMemory
from oldfriend.tasks.task import ACTIVE
from oldfriend.tasks.task import STATUSES as TASK_STATUSES
from oldfriend.tasks.task_edits import add_task, edit_task
from oldfriend.tasks.task_store import list_tasks
from oldfriend.watches.watch import STATUSES as WATCH_STATUSES
from oldfriend.watches.watch_edits import add_watch, end_watch
from oldfriend.watches.watch_store import list_watches
from oldfriend.web.links import normalize_public_link

Task: TypeAlias = TaskSchema
Goal: TypeAlias = GoalSchema
Watch: TypeAlias = WatchSchema


class RecordMethods(OpenMemory):
    """One person's own records; ids may be given in full or by their first characters."""

    async def add_task(
        self, text: str, *, due: TimeInput | None = None, rrule: str | None = None
    ) -> Task:
        """Put a reminder on the list, or without a time a to-do; the same one is not added twice.

        ``due`` is a datetime or ISO 8601 text, as in ``add``; ``rrule`` says how it repeats (RFC
        5545), from ``due`` on. Raises InvalidInput.
        """
        person = self._chat_context.person
        what, rule = parse_text(text, "text"), parse_optional_text(rrule, "rrule")
        due_at = parse_bound(due, "due", person.zone)
        async with self._app.db.begin_write() as tx:
            now = self._app.clock()
            decision = await add_task(tx, person, what, now=now, due_at=due_at, rrule=rule)
            await plan_next_look(tx, person.id, now=now)
            known = await list_tasks(tx, person.id)
        self._app.notifier.notify()
        if decision.saved:
            return TaskSchema.from_domain(decision.saved[0][0], zone=person.zone)
        words = " ".join(what.split()).casefold()
        for task in known:
            if task.text.casefold() == words:
                return TaskSchema.from_domain(task, zone=person.zone)
        raise InvalidInput(decision.text)

    async def tasks(self, *, ended: bool = False) -> list[Task]:
        """Return the reminders and to-dos, the next due first; with ``ended`` also what is over.

        Raises InvalidInput.
        """
        person = self._chat_context.person
        statuses = TASK_STATUSES if parse_flag(ended, "ended") else ACTIVE
        async with self._app.db.begin_read() as tx:
            found = await list_tasks(tx, person.id, statuses=statuses)
        return [TaskSchema.from_domain(each, zone=person.zone) for each in found]

    async def complete_task(self, task: str) -> Task:
        """Mark a task as done; a series goes on. Raises NotFound, InvalidInput."""
        person, task_id = self._chat_context.person, parse_text(task, "task")
        async with self._app.db.begin_write() as tx:
            changed, _ = await edit_task(tx, person, task_id, "done", now=self._app.clock())
        self._app.notifier.notify()
        return TaskSchema.from_domain(changed, zone=person.zone)

    async def add_goal(self, text: str, *, deadline: TimeInput | None = None) -> Goal:
        """Set a goal; how often it is wanted is read from its text. The same is not set twice.

        ``deadline`` is a datetime or ISO 8601 text, as in ``add``. Raises InvalidInput.
        """
        person, wanted = self._chat_context.person, parse_text(text, "text")
        wishes = GoalWishes(deadline=parse_bound(deadline, "deadline", person.zone))
        now = self._app.clock()
        async with self._app.db.begin_write() as tx:
            state = await add_goal(tx, person, wanted, wishes, now=now)
        return GoalSchema.from_domain(state, zone=person.zone, now=now)

    async def goals(self, *, ended: bool = False) -> list[Goal]:
        """Return the goals with how far they are; with ``ended`` also what is over.

        Raises InvalidInput.
        """
        person, is_all = self._chat_context.person, parse_flag(ended, "ended")
        now = self._app.clock()
        async with self._app.db.begin_read() as tx:
            found = await list_goals(
                tx, person.id, statuses=GOAL_STATUSES if is_all else ("active",)
            )
        return [
            GoalSchema.from_domain(each, zone=person.zone, now=now)
            for each in found
            if is_all or each.goal.is_open(now)
        ]

    async def count_for_goal(self, goal: str) -> Goal:
        """Count that something was done for a goal. Raises NotFound, InvalidInput."""
        return await self._change_goal(goal, "did")

    async def complete_goal(self, goal: str) -> Goal:
        """Say that a goal is reached. Raises NotFound, InvalidInput."""
        return await self._change_goal(goal, "done")

    async def drop_goal(self, goal: str) -> Goal:
        """Put a goal aside. Raises NotFound, InvalidInput."""
        return await self._change_goal(goal, "drop")

    async def _change_goal(self, goal: str, action: GoalAction) -> Goal:
        person, goal_id, now = (
            self._chat_context.person,
            parse_text(goal, "goal"),
            self._app.clock(),
        )
        async with self._app.db.begin_write() as tx:
            state, _ = await edit_goal(tx, person, goal_id, GoalEdit(action=action), now=now)
        return GoalSchema.from_domain(state, zone=person.zone, now=now)

    async def add_watch(
        self, url: str, *, below: float | None = None, above: float | None = None
    ) -> Watch:
        """Have a page watched; with a limit, the first price on it. The same is not added twice.

        Raises InvalidInput.
        """
        person = self._chat_context.person
        address = normalize_public_link(parse_text(url, "url"))
        if address is None:
            raise InvalidInput("`url` is not an address of the public web.")
        limits = parse_amount(below, "below"), parse_amount(above, "above")
        async with self._app.db.begin_write() as tx:
            watch = await add_watch(
                tx, person, address, now=self._app.clock(), below=limits[0], above=limits[1]
            )
        self._app.notifier.notify()
        return WatchSchema.from_domain(watch, zone=person.zone)

    async def watches(self, *, ended: bool = False) -> list[Watch]:
        """Return what is watched; with ``ended`` also what is over. Raises InvalidInput."""
        person = self._chat_context.person
        statuses = WATCH_STATUSES if parse_flag(ended, "ended") else ("active",)
        async with self._app.db.begin_read() as tx:
            found = await list_watches(tx, person.id, statuses=statuses)
        return [WatchSchema.from_domain(each, zone=person.zone) for each in found]

    async def end_watch(self, watch: str) -> Watch:
        """End a watch. Raises NotFound, InvalidInput."""
        person, name = self._chat_context.person, parse_text(watch, "watch")
        async with self._app.db.begin_write() as tx:
            ended = await end_watch(tx, person, name, now=self._app.clock())
        return WatchSchema.from_domain(ended, zone=person.zone)
