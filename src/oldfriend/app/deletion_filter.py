"""Deletion filter: keeps forgotten content from being imported or learned again."""

from typing import Final

from oldfriend.config.keys import DELETION_KEY_VARIABLE, find_deletion_key
from oldfriend.config.settings import Settings
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import PersonId
from oldfriend.domain.messages import Chat
from oldfriend.memory.deletion.audit_log import has_pending_files
from oldfriend.memory.deletion.tombstones import (
    Tombstones,
    delete_tombstones,
    fingerprint_external_id,
    fingerprint_words,
    has_tombstone,
    has_tombstones,
    load_tombstones,
)

DIFFERENT_KEY: Final = localizable(
    "forgotten_by_another_key",
    f"""Something was forgotten with a key that this machine does not have, so it \
cannot be recognized here and may be imported and learned again. Copy the key "forgetting" from \
the machine on which it was forgotten (its keyring, or keys.toml in its settings folder) into \
{DELETION_KEY_VARIABLE}.""",
    variable=DELETION_KEY_VARIABLE,
)


async def load_deletion_filter(settings: Settings, tx: Transaction, person: PersonId) -> Tombstones:
    """Load the tombstones of a person, with their key if this machine has it."""
    return await load_tombstones(tx, person, find_deletion_key(settings) or b"")


async def is_forgotten_delivery(
    tx: Transaction, settings: Settings, chat: Chat, external_id: str
) -> bool:
    """Return whether a message with this id came into the chat before and was forgotten."""
    if not await has_tombstones(tx, chat.person):
        return False
    key = find_deletion_key(settings)
    if key is None:
        return False
    fingerprint = fingerprint_external_id(key, chat.channel, chat.address, external_id)
    return await has_tombstone(tx, chat.person, fingerprint)


async def has_pending_cleanup(db: Database) -> bool:
    """Return whether a process died after a deletion, before its files were clean."""
    async with db.begin_read() as tx:
        return await has_pending_files(tx)


async def lift_tombstone(tx: Transaction, settings: Settings, person: PersonId, words: str) -> None:
    """Let something that was forgotten be learned again, because the person says it anew."""
    if not await has_tombstones(tx, person):
        return
    key = find_deletion_key(settings)
    if key is not None:
        await delete_tombstones(tx, person, [fingerprint_words(key, words)])
