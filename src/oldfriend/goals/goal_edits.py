"""Goal edits: what a person does with their goals by a program, stored at once."""

from typing import Final, Literal

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.desk_scope import DeskScope
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.messages import Person
from oldfriend.goals.goal import GoalState, GoalStatus
from oldfriend.goals.goal_desk import GoalDecision, GoalDesk, GoalWishes, is_same_text
from oldfriend.goals.goal_store import add_progress, get_goal, list_goals, save_goal
from oldfriend.memory.people import lock_person
from oldfriend.prompts.locale_phrases import choose_language

GoalAction = Literal["done", "drop", "did", "change", "reopen"]
ENDINGS: Final[dict[GoalAction, GoalStatus]] = {
    "done": "completed",
    "drop": "abandoned",
    "reopen": "active",
}


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
    tx: Transaction,
    person: Person,
    partial_id: str,
    action: GoalAction,
    *,
    now: Micros,
    wishes: GoalWishes | None = None,
) -> tuple[GoalState, str]:
    """End a goal, count what was done for it or change it; return it and what is said about it.

    Raises NotFound, InvalidInput.
    """
    await lock_person(tx, person.id)
    desk = await open_desk(tx, person, now=now)
    goal = await get_goal(tx, person.id, partial_id)
    state = next((each for each in desk.states if each.goal.id == goal.id), None)
    if action == "reopen":
        decision = desk.end(goal, "active")
    elif state is None:
        raise InvalidInput("That is over already.")
    elif action == "did":
        decision = desk.count(state)
        if decision.goal is None:
            raise InvalidInput(decision.text)
    elif action == "change":
        decision = desk.change(goal, wishes or GoalWishes())
    else:
        decision = desk.end(goal, ENDINGS[action])
    await store(tx, decision)
    done = () if state is None else state.progress
    if decision.progress is not None:
        done = (*done, decision.progress)
    return GoalState(goal=decision.goal or goal, progress=done), decision.text


async def store(tx: Transaction, decision: GoalDecision) -> None:
    """Store what was decided."""
    if decision.goal is not None and decision.goal != decision.earlier:
        await save_goal(tx, decision.goal)
    if decision.progress is not None:
        await add_progress(tx, decision.progress)
    await tx.notify()
