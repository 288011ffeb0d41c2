"""Is everything sound? The bytes, the fold, the search, the sense for meaning, the disk."""

import shutil
from dataclasses import dataclass

from oldfriend.app.settings import sqlite_path
from oldfriend.app.wiring import House
from oldfriend.db.database import Transaction
from oldfriend.domain.errors import EmbeddingFailed
from oldfriend.domain.people import Person
from oldfriend.memory.changes import check_fold
from oldfriend.memory.people import list_people
from oldfriend.memory.vectors import count_findable

LOW_DISK_BYTES = 200 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at."""

    is_well: bool
    text: str


async def examine(house: House) -> list[Finding]:
    """Look at everything; what is not well says what to do."""
    findings = [*await bytes_on_disk(house), disk_space(house), await sense_for_meaning(house)]
    async with house.db.reading() as tx:
        for person in await list_people(tx):
            findings += await person_findings(tx, person, house.embedder.model)
    return findings


async def bytes_on_disk(house: House) -> list[Finding]:
    """Whether the database is sound."""
    wrong = await house.db.check()
    if not wrong:
        where = sqlite_path(house.settings.database)
        return [Finding(is_well=True, text=f"The database {where} is sound.")]
    return [
        Finding(is_well=False, text=f"The database is damaged: {line}. Restore a backup.")
        for line in wrong
    ]


def disk_space(house: House) -> Finding:
    """Whether there is room to go on."""
    folder = sqlite_path(house.settings.database).parent
    free = shutil.disk_usage(folder).free
    room = f"{free / 1024**3:.1f} GB free in {folder}"
    if free < LOW_DISK_BYTES:
        return Finding(is_well=False, text=f"Only {room}. Make room before it is full.")
    return Finding(is_well=True, text=f"{room}.")


async def sense_for_meaning(house: House) -> Finding:
    """Whether texts can be turned into vectors."""
    try:
        await house.embedder.embed(["hello"])
    except EmbeddingFailed as error:
        return Finding(is_well=False, text=f"Search goes by words alone: {error}")
    return Finding(is_well=True, text=f"The embedding model works ({house.embedder.model}).")


async def person_findings(tx: Transaction, person: Person, model: str) -> list[Finding]:
    """Whether one person's memory is whole."""
    findable, embedded = await count_findable(tx, person.id, model)
    missing = findable - embedded
    words = f"{person.name}: {findable:,} messages can be found"
    if missing:
        words += f", {missing:,} of them by words only until the next chat or import ends"
    findings = [Finding(is_well=True, text=words + ".")]
    for memory in await check_fold(tx, person.id):
        text = f"{person.name}: memory {memory} is not what the journal says. Report this."
        findings.append(Finding(is_well=False, text=text))
    return findings
