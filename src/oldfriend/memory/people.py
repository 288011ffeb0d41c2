"""People: persons, identities, the companion and chats.

Knows nothing of messages.
"""

from collections.abc import Collection
from dataclasses import replace

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import ChatId, CompanionId, PersonId, new_id
from oldfriend.domain.messages import (
    Chat,
    Companion,
    Person,
    clean_name,
    is_single_line,
    sanitize_text,
)
from oldfriend.domain.unicode_text import is_confusable, is_group_like, normalize

DEFAULT_OWNER_NAME = "owner"
"""The owner's default name; not a common word, because names in questions are looked up."""
DEFAULT_COMPANION_NAME = "Oldfriend"
"""The companion's name until it is given one."""
PERSON_COLUMNS = "id, name, is_owner, language, zone, has_said_zone, has_fixed_language"
"""The columns that ``parse_person_row`` expects."""
PERSON_P_COLUMNS = ", ".join(f"p.{column}" for column in PERSON_COLUMNS.split(", "))
"""The same columns of a table aliased as p."""
MAX_PERSON_NAME_LENGTH = 200
MAX_COMPANION_NAME_LENGTH = 40
"""The name stands above the web page and in every prompt."""


async def ensure_owner(tx: Transaction, *, now: Micros, zone: str) -> Person:
    """Return the owner of this install, created on the first call."""
    owner = await find_owner(tx)
    if owner is not None:
        return owner
    await add_person(tx, DEFAULT_OWNER_NAME, is_owner=True, now=now, zone=zone)
    return await get_person(tx, None)


async def ensure_person(tx: Transaction, name: str, *, now: Micros, zone: str) -> Person:
    """Return the person of that name, created if new. Raises InvalidInput for an unusable name."""
    clean = validate_name(name)
    person = await find_person(tx, clean)
    if person is not None:
        return person
    await check_no_look_alike(tx, clean)
    await add_person(tx, clean, is_owner=False, now=now, zone=zone)
    return await get_person(tx, clean)


async def find_person(tx: Transaction, name: str) -> Person | None:
    """Return the person of that name, if there is one."""
    row = await tx.row(
        f"SELECT {PERSON_COLUMNS} FROM person WHERE name = :name",
        name=normalize_person_name(name),
    )
    return None if row is None else parse_person_row(row)


async def get_person(tx: Transaction, name: str | None) -> Person:
    """Return the person of that name, or the owner for None.

    Raises NotFound, naming who is known.
    """
    if name is None:
        owner = await find_owner(tx)
        if owner is None:
            raise NotFound("Nobody has talked here yet. Begin with: oldfriend chat")
        return owner
    person = await find_person(tx, name)
    if person is None:
        known = ", ".join(p.name for p in await list_people(tx)) or "nobody yet"
        raise NotFound(
            localizable(
                "person_unknown", f"Nobody here is called {name!r}. Known: {known}.", name=name
            )
        )
    return person


async def rename_person(
    tx: Transaction, person: Person, name: str, *, platforms: Collection[str]
) -> Person:
    """Rename a person and return the renamed one.

    Addresses equal to the old name change as well, except on ``platforms``, which have addresses of
    their own. Messages keep the old signature. Raises InvalidInput for a name that is taken or
    unusable.
    """
    new = validate_name(name)
    taken = await find_person(tx, new)
    if taken is not None and taken.id != person.id:
        raise InvalidInput(
            localizable("name_taken", f"Somebody here is called {new} already.", name=new)
        )
    if taken is None:
        await check_no_look_alike(tx, new, person=person)
    await tx.run("UPDATE person SET name = :new WHERE id = :id", new=new, id=person.id)
    for table in ("chat", "identity"):
        rows = await tx.rows(
            f"SELECT channel FROM {table} WHERE person = :id AND address = :old",
            id=person.id,
            old=person.name,
        )
        changes = [
            {"id": person.id, "old": person.name, "new": new, "channel": channel}
            for (channel,) in rows
            if channel not in platforms
        ]
        await tx.run_many(
            f"""UPDATE {table} SET address = :new
               WHERE person = :id AND address = :old AND channel = :channel""",
            changes,
        )
    return replace(person, name=new)


async def check_no_look_alike(tx: Transaction, name: str, *, person: Person | None = None) -> None:
    """Raise InvalidInput for a name that looks like somebody else's or like a group's."""
    if is_group_like(name) and not (person is not None and is_group_like(person.name)):
        raise InvalidInput(
            localizable(
                "name_like_group",
                f"{name} looks like the name of a group. Choose another.",
                name=name,
            )
        )
    taken = await find_look_alike(tx, name, person=person)
    if taken == name and await find_person(tx, name) is not None:
        return  # somebody has created this very person in the meantime
    if taken is not None:
        raise InvalidInput(
            localizable(
                "name_looks_taken",
                f"{name} looks too much like {taken}, which is already in use. Choose a name that "
                "cannot be confused with it.",
                name=name,
                taken=taken,
            )
        )


async def find_look_alike(
    tx: Transaction, name: str, *, person: Person | None = None
) -> str | None:
    """Return the existing or reserved name with which a name could be confused, if any."""
    others = [each.name for each in await list_people(tx) if person is None or each.id != person.id]
    reserved = [await get_companion_name(tx), DEFAULT_COMPANION_NAME]
    if person is None or not person.is_owner:
        reserved.append(DEFAULT_OWNER_NAME)
    return next((each for each in (*others, *reserved) if is_confusable(name, each)), None)


async def find_owner(tx: Transaction) -> Person | None:
    """Return the owner of this install, if there is one yet."""
    row = await tx.row(f"SELECT {PERSON_COLUMNS} FROM person WHERE is_owner = 1")
    return None if row is None else parse_person_row(row)


async def get_person_by_id(tx: Transaction, person: PersonId) -> Person:
    """Return the person with this id. Raises NotFound."""
    row = await tx.row(f"SELECT {PERSON_COLUMNS} FROM person WHERE id = :person", person=person)
    if row is None:
        raise NotFound(f"There is no person {person}.")
    return parse_person_row(row)


async def list_people(tx: Transaction) -> list[Person]:
    """List everybody with a memory here, the owner first."""
    rows = await tx.rows(f"SELECT {PERSON_COLUMNS} FROM person ORDER BY is_owner DESC, name")
    return [parse_person_row(row) for row in rows]


async def add_person(tx: Transaction, name: str, *, is_owner: bool, now: Micros, zone: str) -> None:
    """Add a person, unless somebody else has just done so."""
    await tx.run(
        """INSERT INTO person (id, name, is_owner, language, zone, created_at)
           VALUES (:id, :name, :is_owner, NULL, :zone, :now) ON CONFLICT DO NOTHING""",
        id=new_id(now),
        name=name,
        is_owner=int(is_owner),
        zone=zone,
        now=now,
    )


async def lock_person(tx: Transaction, person: PersonId) -> None:
    """Prevent other writers for this person until the transaction ends.

    Call it before reading whatever the writes depend on.
    """
    await tx.lock("SELECT 1 FROM person WHERE id = :person FOR UPDATE", person=person)


async def set_language(tx: Transaction, person: PersonId, language: str) -> None:
    """Store the language that the person last used, unless they have chosen one."""
    await tx.run(
        """UPDATE person SET language = :language
           WHERE id = :person AND has_fixed_language = 0""",
        language=language,
        person=person,
    )


async def fix_language(tx: Transaction, person: PersonId, language: str | None) -> None:
    """Store in which language the person wants to be answered; None: in the one they write in."""
    await tx.run(
        """UPDATE person SET language = coalesce(:language, language),
             has_fixed_language = CASE WHEN :language IS NULL THEN 0 ELSE 1 END
           WHERE id = :person""",
        language=language,
        person=person,
    )


async def find_fixed_language(tx: Transaction, person: PersonId) -> str | None:
    """Return the language in which the person wants to be answered, if they have chosen one."""
    row = await tx.row(
        "SELECT language FROM person WHERE id = :person AND has_fixed_language = 1", person=person
    )
    return None if row is None else row[0]


async def set_zone(tx: Transaction, person: PersonId, zone: str, *, is_said: bool = False) -> None:
    """Store the person's time zone, and whether they have chosen it themselves."""
    await tx.run(
        "UPDATE person SET zone = :zone, has_said_zone = :said WHERE id = :person",
        zone=zone,
        said=int(is_said),
        person=person,
    )


async def ensure_identity(
    tx: Transaction, person: PersonId, *, channel: str, address: str, now: Micros
) -> None:
    """Assign an address on a channel to a person, unless it belongs to somebody already."""
    await tx.run(
        """INSERT INTO identity (channel, address, person, created_at)
           VALUES (:channel, :address, :person, :now) ON CONFLICT (channel, address) DO NOTHING""",
        channel=channel,
        address=address,
        person=person,
        now=now,
    )


async def get_companion(tx: Transaction) -> Companion:
    """Return the companion of this install. Raises NotFound before anybody has talked."""
    companion = await find_companion(tx)
    if companion is None:
        raise NotFound("Nobody has talked to the companion yet.")
    return companion


async def find_companion(tx: Transaction) -> Companion | None:
    """Return the companion of this install, whatever its name, or None if there is none yet."""
    row = await tx.row(
        "SELECT id, name, introduced_at FROM companion ORDER BY created_at, id LIMIT 1"
    )
    if row is None:
        return None
    return Companion(id=CompanionId(row[0]), name=row[1], introduced_at=row[2])


async def get_companion_name(tx: Transaction) -> str:
    """Return the companion's name, also before anybody has talked to it."""
    found = await find_companion(tx)
    return DEFAULT_COMPANION_NAME if found is None else found.name


async def ensure_companion(tx: Transaction, *, now: Micros) -> Companion:
    """Return the companion of this install, created on the first call."""
    found = await find_companion(tx)
    if found is not None:
        return found
    await tx.run(
        """INSERT INTO companion (id, name, created_at) SELECT :id, :name, :now
           WHERE NOT EXISTS (SELECT 1 FROM companion) ON CONFLICT (name) DO NOTHING""",
        id=new_id(now),
        name=DEFAULT_COMPANION_NAME,
        now=now,
    )
    return await get_companion(tx)


async def rename_companion(tx: Transaction, companion: Companion, name: str) -> Companion:
    """Rename the companion and return the renamed one.

    Its messages keep the old signature. Raises InvalidInput for an unusable name.
    """
    new = validate_companion_name(name)
    await tx.run("UPDATE companion SET name = :new WHERE id = :id", new=new, id=companion.id)
    return replace(companion, name=new)


async def lock_companion(tx: Transaction) -> None:
    """Prevent others from renaming the companion until the transaction ends."""
    await tx.lock("SELECT 1 FROM companion FOR UPDATE")


async def mark_introduced(tx: Transaction, companion: CompanionId, *, now: Micros) -> bool:
    """Record that the companion has introduced itself; return False if it had before."""
    touched = await tx.run(
        "UPDATE companion SET introduced_at = :now WHERE id = :id AND introduced_at IS NULL",
        now=now,
        id=companion,
    )
    return touched == 1


async def get_chat(tx: Transaction, person: PersonId, chat_id: ChatId) -> Chat:
    """Return a chat of a person. Raises NotFound."""
    row = await tx.row(
        """SELECT id, person, companion, channel, address, title FROM chat
           WHERE id = :chat AND person = :person""",
        chat=chat_id,
        person=person,
    )
    if row is None:
        raise NotFound(f"There is no chat {chat_id}.")
    return parse_chat_row(row)


async def ensure_chat(
    tx: Transaction,
    person: Person,
    companion: Companion,
    *,
    channel: str,
    address: str,
    title: str,
    now: Micros,
) -> Chat:
    """Return the person's chat at an address on a channel, created if new."""
    location = {"channel": validate_name(channel), "address": sanitize_text(address)}
    found = await find_chat(tx, person.id, companion.id, **location)
    if found is not None:
        return found
    await tx.run(
        """INSERT INTO chat (id, person, companion, channel, address, title, created_at)
           VALUES (:id, :person, :companion, :channel, :address, :title, :now)
           ON CONFLICT (person, companion, channel, address) DO NOTHING""",
        id=new_id(now),
        person=person.id,
        companion=companion.id,
        title=clean_name(title),
        now=now,
        **location,
    )
    created = await find_chat(tx, person.id, companion.id, **location)
    assert created is not None
    return created


async def restore_chat(tx: Transaction, chat: Chat, *, now: Micros) -> None:
    """Recreate a chat that is still in use although a deletion removed it.

    If another chat has its address by now, its id becomes its address. The caller holds the
    person's lock.
    """
    known = await tx.row(
        "SELECT id FROM chat WHERE person = :person AND id = :id", person=chat.person, id=chat.id
    )
    if known is not None:
        return
    location = {"channel": chat.channel, "address": chat.address}
    other = await find_chat(tx, chat.person, chat.companion, **location)
    await tx.run(
        """INSERT INTO chat (id, person, companion, channel, address, title, created_at)
           VALUES (:id, :person, :companion, :channel, :address, :title, :now)""",
        id=chat.id,
        person=chat.person,
        companion=chat.companion,
        channel=chat.channel,
        address=chat.address if other is None else chat.id,
        title=chat.title,
        now=now,
    )


async def find_chat(
    tx: Transaction, person: PersonId, companion: CompanionId, *, channel: str, address: str
) -> Chat | None:
    """Return the person's chat at an address on a channel, if there is one."""
    row = await tx.row(
        """SELECT id, person, companion, channel, address, title FROM chat WHERE person = :person
           AND companion = :companion AND channel = :channel AND address = :address""",
        person=person,
        companion=companion,
        channel=channel,
        address=address,
    )
    return None if row is None else parse_chat_row(row)


def format_group_channel(channel: str) -> str:
    """Return the identity channel of groups, which keeps them apart from people on a channel."""
    return f"{channel} group"


async def move_chats(tx: Transaction, channel: str, *, old_address: str, new_address: str) -> None:
    """Change an address on a channel for everybody's chats and for the group there."""
    await tx.run(
        """UPDATE identity SET address = :now WHERE channel = :groups AND address = :before
           AND NOT EXISTS (SELECT 1 FROM identity other WHERE other.channel = :groups
             AND other.address = :now)""",
        groups=format_group_channel(channel),
        before=old_address,
        now=new_address,
    )
    await tx.run(
        """UPDATE chat SET address = :now WHERE channel = :channel AND address = :before
           AND NOT EXISTS (SELECT 1 FROM chat other WHERE other.person = chat.person
             AND other.companion = chat.companion AND other.channel = :channel
             AND other.address = :now)""",
        channel=channel,
        before=old_address,
        now=new_address,
    )


def validate_name(name: str) -> str:
    """Return a person's or channel's name as it is stored. Raises InvalidInput."""
    clean = normalize_person_name(name)
    if not is_name(name, clean, longest=MAX_PERSON_NAME_LENGTH):
        raise InvalidInput(
            localizable(
                "name_unfit",
                f"{name[:50]!r} cannot be a name. Use 1 to {MAX_PERSON_NAME_LENGTH} visible "
                "characters, on one line.",
                name=name[:50],
                longest=MAX_PERSON_NAME_LENGTH,
            )
        )
    return clean


def validate_companion_name(name: str) -> str:
    """Return a companion's name as it is stored. Raises InvalidInput."""
    clean = normalize_person_name(name)
    if not is_name(name, clean, longest=MAX_COMPANION_NAME_LENGTH):
        raise InvalidInput(
            localizable(
                "companion_name_unfit",
                f"{name[:50]!r} cannot be the companion's name. "
                f"Use 1 to {MAX_COMPANION_NAME_LENGTH} visible characters, on one line.",
                name=name[:50],
                longest=MAX_COMPANION_NAME_LENGTH,
            )
        )
    return clean


def is_name(name: str, clean: str, *, longest: int) -> bool:
    """Return whether a name can be shown on one line, and stored without replacing characters."""
    is_stored_whole = sanitize_text(name) == name and is_single_line(name.strip())
    return is_stored_whole and 1 <= len(clean) <= longest and clean.isprintable()


def normalize_person_name(name: str) -> str:
    """Normalize spaces and composed characters of a name."""
    return " ".join(normalize("NFC", sanitize_text(name)).split())


def parse_person_row(row: Row) -> Person:
    """Parse a row of PERSON_COLUMNS."""
    person_id, name, is_owner, language, zone, has_said_zone, has_fixed_language = row
    return Person(
        id=PersonId(person_id),
        name=name,
        is_owner=bool(is_owner),
        language=language,
        zone=zone,
        has_chosen_zone=bool(has_said_zone),
        has_fixed_language=bool(has_fixed_language),
    )


def parse_chat_row(row: Row) -> Chat:
    """Parse a row of id, person, companion, channel, address and title."""
    chat_id, person, companion, channel, address, title = row
    return Chat(
        id=ChatId(chat_id),
        person=PersonId(person),
        companion=CompanionId(companion),
        channel=channel,
        address=address,
        title=title,
    )
