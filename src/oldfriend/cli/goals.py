"""oldfriend goals: lists goals, sets one, ends one, and counts what was done for one."""

import argparse
from dataclasses import asdict
from itertools import zip_longest

from oldfriend.cli.open_context import get_selected_person, open_from_options
from oldfriend.cli.output import dumps
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.json import JsonValue
from oldfriend.goals.goal_desk import GoalWishes
from oldfriend.goals.goal_edits import GoalAction, GoalEdit, add_goal, edit_goal, open_desk
from oldfriend.presenters.goal_schemas import GoalSchema

USAGE_HELP = (
    "Use `oldfriend goals` to list them, `oldfriend goals add TEXT` to set one, and "
    "`oldfriend goals done ID`, `drop ID` or `did ID` to end one or to count something for it."
)


async def run(options: argparse.Namespace) -> int:
    """List goals, set one, or end one. Raises InvalidInput."""
    match options.what:
        case []:
            return await print_goals(options)
        case ["add", *words] if words:
            return await set_goal(options, " ".join(words))
        case ["done", goal]:
            return await change_goal(options, goal, "done")
        case ["drop", goal]:
            return await change_goal(options, goal, "drop")
        case ["did", goal]:
            return await change_goal(options, goal, "did")
    raise InvalidInput(f"{' '.join(options.what)[:40]!r} cannot be done with goals. {USAGE_HELP}")


async def print_goals(options: argparse.Namespace) -> int:
    """Print the goals that are open."""
    async with open_from_options(options, create=False) as app:
        now = app.clock()
        async with app.db.begin_read() as tx:
            person = await get_selected_person(tx, options)
            desk = await open_desk(tx, person, now=now)
        if options.json:
            rows: list[JsonValue] = [
                asdict(GoalSchema.from_domain(each, zone=person.zone, now=now))
                for each in desk.states
            ]
            print(dumps(rows, indent=2))
        else:
            ids = [each.goal.short_id for each in desk.states]
            head, *lines = desk.list().splitlines()
            print("\n".join([head, *(f"{line}  {goal}" for line, goal in zip_longest(lines, ids))]))
    return 0


async def set_goal(options: argparse.Namespace, text: str) -> int:
    """Set a goal."""
    async with open_from_options(options, create=False) as app:
        async with app.db.begin_write() as tx:
            person = await get_selected_person(tx, options)
            now = app.clock()
            state = await add_goal(tx, person, text, GoalWishes(), now=now)
            desk = await open_desk(tx, person, now=now)
        print(desk.confirm(state.goal))
    return 0


async def change_goal(options: argparse.Namespace, name: str, action: GoalAction) -> int:
    """End a goal or count something for it, by its number in the list or its id."""
    async with open_from_options(options, create=False) as app:
        async with app.db.begin_write() as tx:
            person = await get_selected_person(tx, options)
            now = app.clock()
            desk = await open_desk(tx, person, now=now)
            found = desk.find(name)
            goal = found[0].goal.id if len(found) == 1 else name
            _, text = await edit_goal(tx, person, goal, GoalEdit(action=action), now=now)
        print(text)
    return 0
