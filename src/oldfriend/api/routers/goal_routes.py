"""Goal routes: what a person wants to reach."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query

from oldfriend.api.auth import CurrentUser, HubDep
from oldfriend.api.idempotency import IdempotencyDep, OptionalIdempotencyKey
from oldfriend.api.requests import GoalChangeRequest, GoalRequest
from oldfriend.domain.clock import Micros, parse_timestamp
from oldfriend.goals.goal import STATUSES
from oldfriend.goals.goal_desk import GoalWishes
from oldfriend.goals.goal_edits import GoalEdit, add_goal, edit_goal
from oldfriend.goals.goal_store import list_goals
from oldfriend.presenters.goal_schemas import GoalListSchema, GoalSchema

router = APIRouter(prefix="/goals", tags=["goals"])


@router.get("", summary="List your goals")
async def show_goals(
    me: CurrentUser,
    hub: HubDep,
    ended: Annotated[bool, Query(description="Include those that are over.")] = False,
) -> GoalListSchema:
    """List your goals with how far they are, the most important first."""
    now = hub.app.clock()
    async with hub.app.db.begin_read() as tx:
        states = (
            await list_goals(tx, me.person.id, statuses=STATUSES)
            if ended
            else [each for each in await list_goals(tx, me.person.id) if each.goal.is_open(now)]
        )
    return GoalListSchema(
        items=tuple(GoalSchema.from_domain(each, zone=me.person.zone, now=now) for each in states)
    )


@router.post("", status_code=201, summary="Set a goal")
async def create_goal(made: GoalRequest, me: CurrentUser, hub: HubDep) -> GoalSchema:
    """Set a goal; how often it is wanted is read from its text. The same one is not set twice."""
    now = hub.app.clock()
    async with hub.app.db.begin_write() as tx:
        wishes = build_wishes(made, me.person.zone)
        state = await add_goal(tx, me.person, made.text, wishes, now=now)
    hub.note_tasks_changed(me.person.id)
    return GoalSchema.from_domain(state, zone=me.person.zone, now=now)


@router.patch("/{goal}", summary="End a goal, count what was done for it, or change it")
async def change_goal(
    goal: str,
    change: GoalChangeRequest,
    me: CurrentUser,
    hub: HubDep,
    idempotency: IdempotencyDep,
    idempotency_key: OptionalIdempotencyKey = None,
) -> GoalSchema:
    """Say that a goal is reached (`done`) or put aside (`drop`), or count what you `did` for it.

    `did` of an amount in all, such as 100 km, needs the `amount` in its unit; `undo` takes a
    `step` that was counted back, or the last. `reopen` puts a goal back that was ended; `change`
    sets the fields that are sent: a deadline of null and an empty next action are taken away.
    """
    now = hub.app.clock()

    async def save() -> GoalSchema:
        async with hub.app.db.begin_write() as tx:
            edit = GoalEdit(
                action=change.action,
                wishes=replace(build_wishes(change, me.person.zone), text=change.text),
                amount=change.amount,
                step=change.step,
            )
            state, _ = await edit_goal(tx, me.person, goal, edit, now=now)
        hub.note_tasks_changed(me.person.id)
        return GoalSchema.from_domain(state, zone=me.person.zone, now=now)

    key = None if idempotency_key is None else f"{goal}/{idempotency_key}"
    return await idempotency.run_once(me.person.id, key, change, save, GoalSchema, now=now)


def build_wishes(asked: GoalRequest | GoalChangeRequest, zone: str) -> GoalWishes:
    """Return what is told of a goal beside its text. Raises InvalidInput."""
    deadline: Micros | None = None
    if asked.deadline is not None:
        deadline = parse_timestamp(asked.deadline, zone)[0]
    return GoalWishes(
        deadline=deadline,
        kind=asked.kind,
        priority=asked.priority,
        next_action=asked.next_action,
        has_no_deadline=asked.deadline is None and "deadline" in asked.model_fields_set,
    )
