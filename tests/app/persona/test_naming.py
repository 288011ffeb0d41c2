"""The companion is given a name, and speaks by it from then on; somebody says their zone."""

from dataclasses import replace

import pytest

from oldfriend.app.accepting import Line, Said, accept
from oldfriend.app.house import House
from oldfriend.app.persona.naming import change_person, name_companion
from oldfriend.domain.errors import InvalidInput, StaleDecision
from oldfriend.memory.log import list_messages
from oldfriend.memory.people import get_companion, get_person_by_id
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


async def test_who_has_said_their_zone_keeps_it_wherever_they_write_from(
    house: House, line: Line
) -> None:
    """At a terminal, too; who has not said it lives by the clocks of the machine."""

    async def zones_in(machine: str) -> tuple[str, str]:
        there = replace(house, settings=replace(house.settings, zone=machine))
        accepted = await accept(there, line, Said(text="Hello."), to_answer=False)
        assert accepted is not None
        async with house.db.reading() as tx:
            return (await get_person_by_id(tx, line.person.id)).zone, accepted.message.zone

    assert await zones_in("Asia/Tokyo") == ("Asia/Tokyo", "Asia/Tokyo")
    await change_person(house, line.person.id, zone="Europe/Brussels")
    assert await zones_in("Asia/Tokyo") == ("Europe/Brussels", "Europe/Brussels")
