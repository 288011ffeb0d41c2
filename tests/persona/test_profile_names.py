"""The companion is given a name, and speaks by it from then on; somebody says their zone."""

from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.domain.errors import InvalidInput, StaleDecision
from oldfriend.inbound.accept import ChatContext, MessageSubmission, accept_message
from oldfriend.memory.message_log import list_messages
from oldfriend.memory.people import get_companion, get_person_by_id
from oldfriend.persona.profile_names import set_companion_name, update_person
from tests.chat_fixtures import Say


async def test_renamed_companion_uses_its_new_name_and_old_messages_keep_theirs(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """A bare name before a question belongs to no question."""
    await say("who are you?")
    await set_companion_name(app.db, app.clock, app.notifier, "Mira")
    told = await say("Mira, who are you?")
    async with app.db.begin_read() as tx:
        said = await list_messages(tx, chat_context.person.id)

    assert told.reply.text.startswith("I'm Mira, a program")
    signed = [each.speaker for each in said if each.role == "companion"]
    assert signed == ["Oldfriend", "Mira"]


async def test_companion_rename_with_a_stale_base_is_refused(
    app: AppContext, chat_context: ChatContext
) -> None:
    """And what is no name is refused in words."""
    await set_companion_name(app.db, app.clock, app.notifier, "Mira", base="Oldfriend")
    with pytest.raises(StaleDecision, match="Look again"):
        await set_companion_name(app.db, app.clock, app.notifier, "Vera", base="Oldfriend")
    with pytest.raises(InvalidInput, match="on one line"):
        await set_companion_name(app.db, app.clock, app.notifier, "Ve\nra")
    async with app.db.begin_read() as tx:
        companion = await get_companion(tx)

    assert companion.name == "Mira"


async def test_person_time_zone_setting_overrides_the_machine_zone(
    app: AppContext, chat_context: ChatContext
) -> None:
    """At a terminal, too; who has not said it lives by the clocks of the machine."""

    async def zones_in(machine: str) -> tuple[str, str]:
        there = replace(app, settings=replace(app.settings, zone=machine))
        accepted = await accept_message(
            there, chat_context, MessageSubmission(text="Hello."), claim_now=False
        )
        assert accepted is not None
        async with app.db.begin_read() as tx:
            return (await get_person_by_id(tx, chat_context.person.id)).zone, accepted.message.zone

    assert await zones_in("Asia/Tokyo") == ("Asia/Tokyo", "Asia/Tokyo")
    await update_person(app, chat_context.person.id, zone="Europe/Brussels")
    assert await zones_in("Asia/Tokyo") == ("Europe/Brussels", "Europe/Brussels")
