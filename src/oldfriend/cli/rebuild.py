"""oldfriend rebuild: make what is believed anew from the decisions, or check that it is so."""

import argparse

from oldfriend.cli.columns import counted
from oldfriend.cli.opening import opened
from oldfriend.cli.whom import person_looked_into
from oldfriend.db.database import Transaction
from oldfriend.domain.ids import ObjectId, PersonId
from oldfriend.memory.changes import check_fold, rebuild
from oldfriend.memory.evidence import check_standings


async def run(options: argparse.Namespace) -> int:
    """Check, or rebuild; 1 where what is there is not what was decided."""
    async with opened(options, create=False) as house:
        async with house.db.reading() as tx:
            person = await person_looked_into(tx, options)
            wrong = await unlike_decided(tx, person.id)
        if options.check:
            return checked(wrong)
        async with house.db.writing() as tx:
            made = await rebuild(tx, person.id)
    print(f"Made anew: {counted(made, 'belief')}, of which {len(wrong):,} were otherwise before.")
    return 0


async def unlike_decided(tx: Transaction, person: PersonId) -> list[ObjectId]:
    """What is not as it was decided, or does not stand as its evidence makes it."""
    return sorted({*await check_fold(tx, person), *await check_standings(tx, person)})


def checked(wrong: list[ObjectId]) -> int:
    """Say what was found."""
    for each in wrong:
        print(f"{each} is not what was decided. To mend it: oldfriend rebuild")
    if not wrong:
        print("Everything is as it was decided.")
    return 1 if wrong else 0
