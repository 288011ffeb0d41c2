"""Who is who, and where they talk."""

import pytest

from oldfriend.db.database import Database
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.memory.core_blocks import get_global_persona_text, save_global_persona
from oldfriend.memory.people import (
    ensure_chat,
    ensure_companion,
    ensure_identity,
    ensure_owner,
    ensure_person,
    get_companion,
    get_person,
    get_person_by_id,
    list_people,
    mark_introduced,
    rename_companion,
    set_language,
)


async def test_owner_is_created_once_and_listed_first(db: Database) -> None:
    """Whoever comes later does not become the owner."""
    async with db.begin_write() as tx:
        owner = await ensure_owner(tx, now=1, zone="UTC")
        ada = await ensure_person(tx, "Ada", now=2, zone="Asia/Tokyo")

        assert await ensure_owner(tx, now=3, zone="Europe/Lisbon") == owner
        assert await ensure_person(tx, "Ada", now=4, zone="UTC") == ada
        assert await get_person(tx, None) == owner
        assert await list_people(tx) == [owner, ada]


async def test_unknown_person_name_raises_not_found_listing_known_names(db: Database) -> None:
    """A slip of the pen is seen at once."""
    async with db.begin_write() as tx:
        with pytest.raises(NotFound, match="Nobody has talked here yet"):
            await get_person(tx, None)
        with pytest.raises(NotFound, match="'Aad'.*nobody yet"):
            await get_person(tx, "Aad")
        await ensure_owner(tx, now=0, zone="UTC")
        await ensure_person(tx, "Ada", now=0, zone="UTC")
        with pytest.raises(NotFound, match="'Aad'.*Known: owner, Ada"):
            await get_person(tx, "Aad")
        with pytest.raises(NotFound):
            await get_person_by_id(tx, "no such id")


async def test_person_name_is_normalized_for_whitespace(db: Database) -> None:
    """Names are kept without what surrounds them."""
    async with db.begin_write() as tx:
        ada = await ensure_person(tx, "\n  Ada \t Lovelace ", now=0, zone="UTC")

        assert ada.name == "Ada Lovelace"
        assert await ensure_person(tx, "Ada Lovelace", now=0, zone="UTC") == ada


@pytest.mark.parametrize(
    "spelling", ["Jos\u00e9 Ruiz", "Jose\u0301 Ruiz", " José  Ruiz\n", "José\u00a0Ruiz"]
)
async def test_person_is_found_despite_unicode_and_whitespace_variants(
    db: Database, spelling: str
) -> None:
    """Blanks, and accents that are written apart, are the keyboard's matter."""
    async with db.begin_write() as tx:
        await ensure_owner(tx, now=0, zone="UTC")
        jose = await ensure_person(tx, "José Ruiz", now=0, zone="UTC")

        assert await ensure_person(tx, spelling, now=0, zone="UTC") == jose
        assert await get_person(tx, spelling) == jose
        with pytest.raises(NotFound, match="Known: owner, José Ruiz"):
            await get_person(tx, "José Ruiz \udcff")


@pytest.mark.parametrize(
    "name", ["", "   ", "x" * 201, "bell\x07", "zero\u200bwidth", "Ada\nLovelace", "\ud800"]
)
async def test_empty_too_long_or_invisible_person_name_is_rejected(db: Database, name: str) -> None:
    """Two names that look alike would be two memories."""
    with pytest.raises(InvalidInput, match="cannot be a name"):
        async with db.begin_write() as tx:
            await ensure_person(tx, name, now=0, zone="UTC")


async def test_chat_is_unique_per_person_channel_and_address(db: Database) -> None:
    """The same address of another person, or on another channel, is another chat."""
    async with db.begin_write() as tx:
        companion = await ensure_companion(tx, now=0)
        ada = await ensure_person(tx, "Ada", now=0, zone="UTC")
        bob = await ensure_person(tx, "Bob", now=0, zone="UTC")
        chats = [
            await ensure_chat(tx, who, companion, channel=channel, address="a", title="", now=0)
            for who in (ada, bob, ada)
            for channel in ("web", "terminal")
        ]

    assert len({chat.id for chat in chats}) == 4
    assert chats[:2] == chats[4:]


async def test_the_companion_is_introduced_once(db: Database) -> None:
    """The first moment is kept."""
    async with db.begin_write() as tx:
        companion = await ensure_companion(tx, now=0)
        introduced = [await mark_introduced(tx, companion.id, now=now) for now in (5, 9)]

        assert introduced == [True, False]
        assert (await ensure_companion(tx, now=0)).introduced_at == 5


async def test_language_is_stored_and_identity_belongs_to_its_first_person(db: Database) -> None:
    """The language they spoke last; an address belongs to whom it was given first."""
    async with db.begin_write() as tx:
        ada = await ensure_person(tx, "Ada", now=0, zone="UTC")
        bob = await ensure_person(tx, "Bob", now=0, zone="UTC")
        await set_language(tx, ada.id, "fr")
        for who in (ada, bob):
            await ensure_identity(tx, who.id, channel="web", address="x", now=0)

        assert (await get_person_by_id(tx, ada.id)).language == "fr"
        assert (await get_person_by_id(tx, bob.id)).language is None
        assert await tx.rows("SELECT person FROM identity") == [(ada.id,)]


async def test_renaming_the_companion_keeps_its_id_and_persona(db: Database) -> None:
    """With all that is its own; whoever comes to know it then makes no second one."""
    async with db.begin_write() as tx:
        first = await ensure_companion(tx, now=0)
        await save_global_persona(tx, first.id, "Be kind.", now=1)
        renamed = await rename_companion(tx, first, "  Mira\u00a0 of Cork\n")
    async with db.begin_write() as tx:
        assert await ensure_companion(tx, now=2) == renamed
        assert await get_companion(tx) == renamed
        assert await get_global_persona_text(tx) == "Be kind."
        assert await rename_companion(tx, renamed, "Oldfriend") == first
        assert await rename_companion(tx, renamed, "Oldfriend") == first
        assert len(await tx.rows("SELECT id FROM companion")) == 1

    assert (first.name, renamed.name, renamed.id) == ("Oldfriend", "Mira of Cork", first.id)


@pytest.mark.parametrize("name", ["", " \n ", "x" * 41, "Mira\nof Cork", "bell\x07"])
async def test_invalid_companion_name_is_rejected(db: Database, name: str) -> None:
    """It stands over the page and in every prompt; it is said what would do."""
    async with db.begin_write() as tx:
        first = await ensure_companion(tx, now=0)
        with pytest.raises(InvalidInput, match="Use 1 to 40 visible characters, on one line"):
            await rename_companion(tx, first, name)

        assert await get_companion(tx) == first
        assert (await rename_companion(tx, first, "猫" * 40)).name == "猫" * 40
