"""Goal edits: what a person does with their goals by a program, stored at once."""

from dataclasses import dataclass, field
from typing import Final, Literal

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.desk_scope import DeskScope
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.messages import Person
from oldfriend.goals.goal import Goal, GoalState, GoalStatus
from oldfriend.goals.goal_desk import (
    UNMEASURED,
    GoalDecision,
    GoalDesk,
    GoalWishes,
    is_same_text,
)
from oldfriend.goals.goal_store import (
    add_progress,
    get_goal,
    list_goals,
    remove_progress,
    save_goal,
)
from oldfriend.goals.goal_totals import PARTS_OF_UNIT, find_total
from oldfriend.memory.people import lock_person
from oldfriend.prompts.locale_phrases import choose_language

GoalAction = Literal["done", "drop", "did", "undo", "change", "reopen"]
ENDINGS: Final[dict[GoalAction, GoalStatus]] = {
    "done": "completed",
    "drop": "abandoned",
    "reopen": "active",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalEdit:
    """What a person does with a goal."""

    action: GoalAction
    wishes: GoalWishes = field(default_factory=GoalWishes)
    amount: float | None = None  # of "did", in the unit of the goal
    step: str | None = None  # of "undo"; None: what was counted last


async def open_desk(tx: Transaction, person: Person, *, now: Micros) -> GoalDesk:
    """Load a person's goals, for changes from outside of a chat."""
    language = choose_language(person.language)
    scope = DeskScope(person=person.id, zone=person.zone, now=now, language=language)
    return GoalDesk(scope, await list_goals(tx, person.id))


async def add_goal(
    tx: Transaction, person: Person, text: str, wishes: GoalWishes, *, now: Micros
) -> GoalState:
    """Put a goal on the list, and return it, or the one that is there already.

    Raises InvalidInput.
    """
    await lock_person(tx, person.id)
    desk = await open_desk(tx, person, now=now)
    known = next((each for each in desk.states if is_same_text(each.goal.text, text.strip())), None)
    if known is not None:
        return known
    decision = desk.set(text, wishes)
    if decision.goal is None:
        raise InvalidInput(decision.text)
    await store(tx, decision)
    return GoalState(goal=decision.goal)


async def edit_goal(
    tx: Transaction, person: Person, partial_id: str, edit: GoalEdit, *, now: Micros
) -> tuple[GoalState, str]:
    """End a goal, count what was done for it or change it; return it and what is said about it.

    Raises NotFound, InvalidInput.
    """
    await lock_person(tx, person.id)
    desk = await open_desk(tx, person, now=now)
    goal = await get_goal(tx, person.id, partial_id)
    state = next((each for each in desk.states if each.goal.id == goal.id), None)
    if edit.action == "reopen":
        decision = desk.end(goal, "active")
    elif state is None:
        raise InvalidInput("That is over already.")
    else:
        decision = decide_edit(desk, state, edit)
    await store(tx, decision)
    done = () if state is None else state.progress
    if decision.progress is not None:
        done = (*done, decision.progress)
    kept = tuple(each for each in done if each != decision.taken_back)
    return GoalState(goal=decision.goal or goal, progress=kept), decision.text


def decide_edit(desk: GoalDesk, goal_state: GoalState, edit: GoalEdit) -> GoalDecision:
    """Decide what an edit of an open goal changes. Raises NotFound, InvalidInput."""
    if edit.action == "did":
        decision = desk.count(goal_state, find_amount(goal_state.goal, edit.amount))
        if decision.goal is None:
            raise InvalidInput(decision.text)
        return decision
    if edit.action == "undo":
        steps = [each for each in goal_state.progress if edit.step in (None, each.id)]
        if not steps:
            raise NotFound("Nothing of that was counted.")
        return desk.take_back_step(goal_state, steps[-1])
    if edit.action == "change":
        return desk.change(goal_state.goal, edit.wishes)
    return desk.end(goal_state.goal, ENDINGS[edit.action])


def find_amount(goal: Goal, told: float | None) -> int | None:
    """Return a told amount as it is stored, for a total in thousandths of its unit.

    Raises InvalidInput.
    """
    if told is None:
        return None
    amount = round(told if find_total(goal) is None else told * PARTS_OF_UNIT)
    if amount < 1 or (amount == UNMEASURED and find_total(goal) is not None):
        raise InvalidInput("Name an amount above zero.")
    return amount


async def store(tx: Transaction, decision: GoalDecision) -> None:
    """Store what was decided."""
    if decision.goal is not None and decision.goal != decision.earlier:
        await save_goal(tx, decision.goal)
    if decision.progress is not None:
        await add_progress(tx, decision.progress)
    if decision.taken_back is not None:
        await remove_progress(tx, decision.taken_back)
    await tx.notify()
