"""An address is linked at the word of whoever runs this, or they are told what else to do."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.channels.channel import Sender
from oldfriend.domain.errors import InvalidInput
from oldfriend.inbound.account_linking import link_own_address
from oldfriend.memory.identities import assign_identity
from oldfriend.memory.people import ensure_owner, ensure_person
from tests.chat_fixtures import Say

ADDRESS = "nora@work.example"


async def test_address_that_has_talked_as_another_person_names_the_way_to_make_them_one(
    app: AppContext, say: Say
) -> None:
    """By a code of theirs."""
    async with app.db.begin_write() as tx:
        await ensure_owner(tx, now=app.clock(), zone="UTC")
        other = await ensure_person(tx, "nora", now=app.clock(), zone="UTC")
        await assign_identity(tx, other.id, channel="email", address=ADDRESS, now=app.clock())
    await say("I live in Riga.", person="nora")

    sender = Sender(address=ADDRESS, name="Nora")
    with pytest.raises(InvalidInput) as refused:
        await link_own_address(app.db, app.clock, app.settings, sender, None, channel="email")

    assert "oldfriend --person nora link --code" in str(refused.value)
    assert "oldfriend link --take CODE" in str(refused.value)
