"""The companion is given a name, and speaks by it from then on."""

import pytest

from oldfriend.app.accepting import Line
from oldfriend.app.house import House
from oldfriend.app.persona.naming import name_companion
from oldfriend.domain.errors import InvalidInput, StaleDecision
from oldfriend.memory.log import list_messages
from oldfriend.memory.people import get_companion
from tests.app.conftest import Say


async def test_by_its_name_it_is_called_and_speaks_and_what_it_said_stays_signed(
    house: House, line: Line, say: Say
) -> None:
    """A bare name before a question belongs to no question."""
    await say("who are you?")
    await name_companion(house, "Mira")
    told = await say("Mira, who are you?")
    async with house.db.reading() as tx:
        said = await list_messages(tx, line.person.id)

    assert told.reply.text.startswith("I'm Mira, a program")
    signed = [each.speaker for each in said if each.role == "companion"]
    assert signed == ["Oldfriend", "Mira"]


async def test_whoever_saw_another_name_changes_nothing(house: House, line: Line) -> None:
    """And what is no name is refused in words."""
    await name_companion(house, "Mira", base="Oldfriend")
    with pytest.raises(StaleDecision, match="Look again"):
        await name_companion(house, "Vera", base="Oldfriend")
    with pytest.raises(InvalidInput, match="on one line"):
        await name_companion(house, "Ve\nra")
    async with house.db.reading() as tx:
        companion = await get_companion(tx)

    assert companion.name == "Mira"
