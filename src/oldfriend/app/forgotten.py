"""What was forgotten, so that it is neither brought in nor learned again?"""

from typing import Final

from oldfriend.app.choices.forgetting_key import VARIABLE, find_forgetting_key
from oldfriend.app.choices.settings import Settings
from oldfriend.db.database import Transaction
from oldfriend.domain.ids import PersonId
from oldfriend.domain.sayings import saying
from oldfriend.memory.forgetting.tombstones import (
    Forgotten,
    has_tombstones,
    lift,
    load_forgotten,
    print_of,
)

BY_ANOTHER_KEY: Final = saying(
    "forgotten_by_another_key",
    f"""Something was forgotten with a key that this machine does not have: \
here it is not known again, and may be brought in and learned anew. Copy the key "forgetting" from \
the machine on which it was forgotten (its keyring, or keys.toml in its settings folder) into \
{VARIABLE}.""",
    variable=VARIABLE,
)


async def forgotten_of(settings: Settings, tx: Transaction, person: PersonId) -> Forgotten:
    """The tombstones of a person, with the key to them, if it is here."""
    return await load_forgotten(tx, person, find_forgetting_key(settings) or b"")


async def lift_told(tx: Transaction, settings: Settings, person: PersonId, words: str) -> None:
    """Let what a person says now be told anew, though they had it forgotten."""
    if not await has_tombstones(tx, person):
        return
    key = find_forgetting_key(settings)
    if key is not None:
        await lift(tx, person, [print_of(key, words)])
