"""Who is talking to whom, and where? Persons, identities, the companion, chats.

Knows nothing of what they say.
"""

import unicodedata
from collections.abc import Collection
from dataclasses import replace

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.ids import ChatId, CompanionId, PersonId, new_id
from oldfriend.domain.messages import storable
from oldfriend.domain.people import Chat, Companion, Person
from oldfriend.domain.sayings import saying

OWNER_NAME = "owner"
"""What the owner is called; no word of ordinary questions, for names in them are looked up."""
FIRST_NAME = "Oldfriend"
"""What the companion is called until it is given a name."""
PERSON = "id, name, is_owner, language, zone, has_said_zone"
"""The columns of which ``person_from`` makes a person."""
PERSON_P = ", ".join(f"p.{column}" for column in PERSON.split(", "))
"""The same of a person whom a statement calls p."""
LONGEST_NAME = 200
LONGEST_COMPANION_NAME = 40
"""It stands over the page, and in every prompt."""


async def ensure_owner(tx: Transaction, *, now: Micros, zone: str) -> Person:
    """The person whose install this is; made on the first call."""
    owner = await find_owner(tx)
    if owner is not None:
        return owner
    await add_person(tx, OWNER_NAME, is_owner=True, now=now, zone=zone)
    return await get_person(tx, None)


async def ensure_person(tx: Transaction, name: str, *, now: Micros, zone: str) -> Person:
    """The person of that name; made if new. Raises InvalidInput for an unusable name."""
    clean = checked_name(name)
    person = await find_person(tx, clean)
    if person is not None:
        return person
    await add_person(tx, clean, is_owner=False, now=now, zone=zone)
    return await get_person(tx, clean)


async def find_person(tx: Transaction, name: str) -> Person | None:
    """The person of that name, if there is one."""
    row = await tx.row(
        f"SELECT {PERSON} FROM person WHERE name = :name",
        name=as_written(name),
    )
    return None if row is None else person_from(row)


async def get_person(tx: Transaction, name: str | None) -> Person:
    """The person of that name, or the owner for None. Raises NotFound, naming who is known."""
    if name is None:
        owner = await find_owner(tx)
        if owner is None:
            raise NotFound("Nobody has talked here yet. Begin with: oldfriend chat")
        return owner
    person = await find_person(tx, name)
    if person is None:
        known = ", ".join(p.name for p in await list_people(tx)) or "nobody yet"
        raise NotFound(
            saying("person_unknown", f"Nobody here is called {name!r}. Known: {known}.", name=name)
        )
    return person


async def rename_person(
    tx: Transaction, person: Person, name: str, *, platforms: Collection[str]
) -> Person:
    """Give a person another name; the person as they are then.

    Where they are known by their name it goes along, not so on ``platforms``, which have addresses
    of their own. What was said stays signed as it was. Raises InvalidInput for a name that is
    taken or unusable.
    """
    new = checked_name(name)
    taken = await find_person(tx, new)
    if taken is not None and taken.id != person.id:
        raise InvalidInput(
            saying("name_taken", f"Somebody here is called {new} already.", name=new)
        )
    await tx.run("UPDATE person SET name = :new WHERE id = :id", new=new, id=person.id)
    for table in ("chat", "identity"):
        rows = await tx.rows(
            f"SELECT channel FROM {table} WHERE person = :id AND address = :old",
            id=person.id,
            old=person.name,
        )
        places = [{"id": person.id, "old": person.name, "new": new, "channel": channel}
                  for (channel,) in rows if channel not in platforms]  # fmt: skip
        await tx.run_many(
            f"""UPDATE {table} SET address = :new
               WHERE person = :id AND address = :old AND channel = :channel""",
            places,
        )
    return replace(person, name=new)


async def find_owner(tx: Transaction) -> Person | None:
    """The person whose install this is, once they have talked."""
    row = await tx.row(f"SELECT {PERSON} FROM person WHERE is_owner = 1")
    return None if row is None else person_from(row)


async def get_person_by_id(tx: Transaction, person: PersonId) -> Person:
    """The person as they are now. Raises NotFound."""
    row = await tx.row(f"SELECT {PERSON} FROM person WHERE id = :person", person=person)
    if row is None:
        raise NotFound(f"There is no person {person}.")
    return person_from(row)


async def list_people(tx: Transaction) -> list[Person]:
    """Everybody with a memory here, the owner first."""
    rows = await tx.rows(f"SELECT {PERSON} FROM person ORDER BY is_owner DESC, name")
    return [person_from(row) for row in rows]


async def add_person(tx: Transaction, name: str, *, is_owner: bool, now: Micros, zone: str) -> None:
    """Add a person, unless somebody else has just done so."""
    await tx.run(
        """INSERT INTO person (id, name, is_owner, language, zone, created_at)
           VALUES (:id, :name, :is_owner, NULL, :zone, :now) ON CONFLICT DO NOTHING""",
        id=new_id(now), name=name, is_owner=int(is_owner), zone=zone, now=now,
    )  # fmt: skip


async def lock_person(tx: Transaction, person: PersonId) -> None:
    """Let nobody else write for this person until this transaction ends.

    First of all in whatever reads what is the person's and then writes what follows from it.
    """
    await tx.lock("SELECT 1 FROM person WHERE id = :person FOR UPDATE", person=person)


async def set_language(tx: Transaction, person: PersonId, language: str) -> None:
    """Note which language the person last spoke."""
    await tx.run(
        "UPDATE person SET language = :language WHERE id = :person",
        language=language,
        person=person,
    )


async def set_zone(tx: Transaction, person: PersonId, zone: str, *, is_said: bool = False) -> None:
    """Note by whose clocks the person lives, and whether they have said so themselves."""
    await tx.run(
        "UPDATE person SET zone = :zone, has_said_zone = :said WHERE id = :person",
        zone=zone,
        said=int(is_said),
        person=person,
    )


async def ensure_identity(
    tx: Transaction, person: PersonId, *, channel: str, address: str, now: Micros
) -> None:
    """Note that this address on this channel is this person."""
    await tx.run(
        """INSERT INTO identity (channel, address, person, created_at)
           VALUES (:channel, :address, :person, :now) ON CONFLICT (channel, address) DO NOTHING""",
        channel=channel, address=address, person=person, now=now,
    )  # fmt: skip


async def get_companion(tx: Transaction) -> Companion:
    """The companion of this install. Raises NotFound before anybody has talked."""
    companion = await find_companion(tx)
    if companion is None:
        raise NotFound("Nobody has talked to the companion yet.")
    return companion


async def find_companion(tx: Transaction) -> Companion | None:
    """The companion of this install, if somebody has talked to it; there is one, of any name."""
    row = await tx.row(
        "SELECT id, name, introduced_at FROM companion ORDER BY created_at, id LIMIT 1"
    )
    if row is None:
        return None
    return Companion(id=CompanionId(row[0]), name=row[1], introduced_at=row[2])


async def companion_name(tx: Transaction) -> str:
    """What the companion is called, also before anybody has talked to it."""
    found = await find_companion(tx)
    return FIRST_NAME if found is None else found.name


async def ensure_companion(tx: Transaction, *, now: Micros) -> Companion:
    """The companion of this install; made on the first call."""
    found = await find_companion(tx)
    if found is not None:
        return found
    await tx.run(
        """INSERT INTO companion (id, name, created_at) SELECT :id, :name, :now
           WHERE NOT EXISTS (SELECT 1 FROM companion) ON CONFLICT (name) DO NOTHING""",
        id=new_id(now), name=FIRST_NAME, now=now,
    )  # fmt: skip
    return await get_companion(tx)


async def rename_companion(tx: Transaction, companion: Companion, name: str) -> Companion:
    """Give the companion another name; as it is then.

    What it has said stays signed as it was. Raises InvalidInput for an unusable name.
    """
    new = checked_companion_name(name)
    await tx.run("UPDATE companion SET name = :new WHERE id = :id", new=new, id=companion.id)
    return replace(companion, name=new)


async def lock_companion(tx: Transaction) -> None:
    """Let nobody else rename the companion until this transaction ends."""
    await tx.lock("SELECT 1 FROM companion FOR UPDATE")


async def mark_introduced(tx: Transaction, companion: CompanionId, *, now: Micros) -> bool:
    """Note that the companion has said what it is; False if it had done so before."""
    touched = await tx.run(
        "UPDATE companion SET introduced_at = :now WHERE id = :id AND introduced_at IS NULL",
        now=now,
        id=companion,
    )
    return touched == 1


async def get_chat(tx: Transaction, person: PersonId, chat: ChatId) -> Chat:
    """A chat of a person. Raises NotFound."""
    row = await tx.row(
        """SELECT id, person, companion, channel, address, title FROM chat
           WHERE id = :chat AND person = :person""",
        chat=chat,
        person=person,
    )
    if row is None:
        raise NotFound(f"There is no chat {chat}.")
    return chat_from(row)


async def ensure_chat(
    tx: Transaction, person: Person, companion: Companion, *, channel: str, address: str,
    title: str, now: Micros,
) -> Chat:  # fmt: skip
    """The person's chat at an address on a channel; made if new."""
    place = {"channel": checked_name(channel), "address": storable(address)}
    found = await find_chat(tx, person.id, companion.id, **place)
    if found is not None:
        return found
    await tx.run(
        """INSERT INTO chat (id, person, companion, channel, address, title, created_at)
           VALUES (:id, :person, :companion, :channel, :address, :title, :now)
           ON CONFLICT (person, companion, channel, address) DO NOTHING""",
        id=new_id(now), person=person.id, companion=companion.id, title=storable(title), now=now,
        **place,
    )  # fmt: skip
    made = await find_chat(tx, person.id, companion.id, **place)
    assert made is not None
    return made


async def find_chat(
    tx: Transaction, person: PersonId, companion: CompanionId, *, channel: str, address: str
) -> Chat | None:
    """The person's chat at an address on a channel, if there is one."""
    row = await tx.row(
        """SELECT id, person, companion, channel, address, title FROM chat WHERE person = :person
           AND companion = :companion AND channel = :channel AND address = :address""",
        person=person, companion=companion, channel=channel, address=address,
    )  # fmt: skip
    return None if row is None else chat_from(row)


def groups_on(channel: str) -> str:
    """Under which name groups on a channel are known, beside the people there."""
    return f"{channel} group"


async def move_chats(tx: Transaction, channel: str, *, before: str, now: str) -> None:
    """Follow a place on a channel to its new address: everybody's chat there, and who it is."""
    await tx.run(
        """UPDATE identity SET address = :now WHERE channel = :groups AND address = :before
           AND NOT EXISTS (SELECT 1 FROM identity other WHERE other.channel = :groups
             AND other.address = :now)""",
        groups=groups_on(channel), before=before, now=now,
    )  # fmt: skip
    await tx.run(
        """UPDATE chat SET address = :now WHERE channel = :channel AND address = :before
           AND NOT EXISTS (SELECT 1 FROM chat other WHERE other.person = chat.person
             AND other.companion = chat.companion AND other.channel = :channel
             AND other.address = :now)""",
        channel=channel, before=before, now=now,
    )  # fmt: skip


def checked_name(name: str) -> str:
    """A name of a person or channel as it is stored. Raises InvalidInput."""
    clean = as_written(name)
    if not clean or len(clean) > LONGEST_NAME or not clean.isprintable():
        raise InvalidInput(saying(
            "name_unfit",
            f"{name[:50]!r} cannot be a name. Use 1 to {LONGEST_NAME} visible characters.",
            name=name[:50], longest=LONGEST_NAME,
        ))  # fmt: skip
    return clean


def checked_companion_name(name: str) -> str:
    """A name of the companion as it is stored. Raises InvalidInput."""
    clean, lines = as_written(name), name.strip().splitlines()
    if len(lines) != 1 or not 1 <= len(clean) <= LONGEST_COMPANION_NAME or not clean.isprintable():
        raise InvalidInput(saying(
            "companion_name_unfit",
            f"{name[:50]!r} cannot be the companion's name. "
            f"Use 1 to {LONGEST_COMPANION_NAME} visible characters, on one line.",
            name=name[:50], longest=LONGEST_COMPANION_NAME,
        ))  # fmt: skip
    return clean


def as_written(name: str) -> str:
    """A name in the one spelling of it that is stored: its blanks, its accents."""
    return " ".join(unicodedata.normalize("NFC", storable(name)).split())


def person_from(row: Row) -> Person:
    """A person from the columns of ``PERSON``."""
    person_id, name, is_owner, language, zone, has_said_zone = row
    return Person(
        id=PersonId(person_id), name=name, is_owner=bool(is_owner), language=language, zone=zone,
        has_said_zone=bool(has_said_zone),
    )  # fmt: skip


def chat_from(row: Row) -> Chat:
    """A chat from (id, person, companion, channel, address, title)."""
    chat_id, person, companion, channel, address, title = row
    return Chat(
        id=ChatId(chat_id), person=PersonId(person), companion=CompanionId(companion),
        channel=channel, address=address, title=title,
    )  # fmt: skip
