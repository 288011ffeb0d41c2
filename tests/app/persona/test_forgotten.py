"""What is forgotten leaves what was suggested because of it, and how things read before."""

from oldfriend.app.accepting import Line
from oldfriend.app.forgetting import forget
from oldfriend.app.house import House
from oldfriend.memory.core_blocks import list_blocks, write_block
from oldfriend.memory.forgetting.choosing import Wish
from oldfriend.memory.log import list_messages
from oldfriend.memory.people import get_companion
from oldfriend.memory.soul import keep_soul, list_souls
from oldfriend.memory.suggestions import Proposal, list_suggestions, settle, suggest
from tests.app.conftest import Say
from tests.memory.forgetting.life import rows_of

SECRET = "my sister Ana is terribly allergic to hazelnuts"


def proposal(text: str, *, reason: str = "", cites: tuple[str, ...] = ()) -> Proposal:
    """Words for the user block."""
    return Proposal(block="user", text=text, reason=reason, author="reflect/1", cites=cites)


async def test_suggestions_and_former_souls_lose_it(
    house: House, line: Line, say: Say, settings_folder: object
) -> None:
    """Whether it stands in their words or they only point to it; the rest stays."""
    await say(SECRET)
    async with house.db.writing() as tx:
        person, now = line.person.id, house.clock()
        said = (await list_messages(tx, person))[0].id
        companion = (await get_companion(tx)).id
        for text in (f"Know that {SECRET}.", "Be kind."):
            await keep_soul(tx, companion, text, now=now)
        declined = await suggest(tx, person, proposal(f"Also {SECRET}."), now=now)
        assert declined is not None
        await settle(tx, declined, "declined", now=now)
        await suggest(tx, person, proposal("Cooks.", cites=(said,)), now=now)
        await suggest(tx, person, proposal("Cares.", reason=f"They said {SECRET}."), now=now)
        await suggest(tx, person, proposal("Likes tea.", cites=("other",)), now=now)
    report = await forget(house, line.person.id, Wish(ids=(said,)))

    assert report.is_proved
    assert "hazelnuts" not in repr(await rows_of(house.db, line.person.id))
    async with house.db.reading() as tx:
        left = await list_suggestions(tx, line.person.id)
        souls = await list_souls(tx, companion)
    assert [each.what.text for each in left] == ["Likes tea."]
    assert [(each.version, each.text) for each in souls] == [(2, "Be kind.")]


async def test_what_people_have_written_stays_unless_everything_goes(
    house: House, line: Line, say: Say, settings_folder: object
) -> None:
    """The soul is everybody's, and stays even then."""
    await say(SECRET)
    async with house.db.writing() as tx:
        person, now = line.person.id, house.clock()
        await keep_soul(tx, (await get_companion(tx)).id, "Be kind to all of them.", now=now)
        await write_block(tx, person, "user", "I have a sister.", now=now)
        await suggest(tx, person, proposal("Likes tea."), now=now)
        said = (await list_messages(tx, person))[0].id
    assert (await forget(house, line.person.id, Wish(ids=(said,)))).is_proved
    async with house.db.reading() as tx:
        assert [each.text for each in await list_blocks(tx, person)] == ["I have a sister."]
    assert (await forget(house, line.person.id, Wish(everything=True))).is_proved
    async with house.db.reading() as tx:
        assert await list_blocks(tx, person) == []
        assert await list_suggestions(tx, person) == []
        assert len(await list_souls(tx, (await get_companion(tx)).id)) == 1
