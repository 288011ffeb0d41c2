"""Chat language: in which language the companion speaks of its own accord in a chat."""

from collections import Counter
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import ChatId, PersonId
from oldfriend.memory.people import find_fixed_language

SAMPLE_SIZE: Final = 8
"""How many of the last messages are counted."""


async def find_chat_language(tx: Transaction, person: PersonId, chat_id: ChatId) -> str | None:
    """Return the language that the person chose, else of the most recent text in a chat, if any."""
    if (fixed := await find_fixed_language(tx, person)) is not None:
        return fixed
    rows = await tx.rows(
        """SELECT m.language, m.tokens FROM message m JOIN chat c ON c.id = m.chat
           WHERE c.person = :person AND m.chat = :chat AND m.replaced_at IS NULL
           AND m.role IN ('person', 'other') ORDER BY m.said_at DESC, m.seq DESC LIMIT :limit""",
        person=person,
        chat=chat_id,
        limit=SAMPLE_SIZE,
    )
    amounts: Counter[str] = Counter()
    for language, tokens in rows:
        amounts[str(language)] += int(tokens)
    return max(amounts, key=lambda each: (amounts[each], each), default=None)
