"""What was forgotten, so that it is neither brought in nor learned again?"""

from oldfriend.app.choices.forgetting_key import find_forgetting_key
from oldfriend.app.choices.settings import Settings
from oldfriend.db.database import Transaction
from oldfriend.domain.ids import PersonId
from oldfriend.memory.forgetting.tombstones import NOTHING, Forgotten, load_forgotten


async def forgotten_of(settings: Settings, tx: Transaction, person: PersonId) -> Forgotten:
    """The tombstones of a person, with the key to them; none before anything was forgotten."""
    key = find_forgetting_key(settings)
    return NOTHING if key is None else await load_forgotten(tx, person, key)
