"""Was this put before? The keys of letters, kept for a while after the letter is done.

Channels redeliver: what was answered yesterday may arrive once more today. A key belongs to its
lane. Knows nothing of what a letter says.
"""

from collections.abc import Iterable

from oldfriend.db.database import SqlValue, Transaction
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.letters import Letter, Queue

KEPT_DAYS = 30
SWEPT_AT_ONCE = 20


async def remember_key(tx: Transaction, queue: Queue, lane: str, key: str) -> bool:
    """Note a key; False if it was known. The lane must be locked."""
    added = await tx.run(
        """INSERT INTO letter_key (queue, lane, key) VALUES (:queue, :lane, :key)
           ON CONFLICT (queue, lane, key) DO NOTHING""",
        queue=queue, lane=lane, key=key,
    )  # fmt: skip
    return added == 1


async def let_keys_age(tx: Transaction, letters: Iterable[Letter], *, now: Micros) -> None:
    """From now on the keys of these letters grow old; beside that a few that are too old go."""
    finished: list[dict[str, SqlValue]] = [
        {"queue": letter.queue, "lane": letter.lane, "key": letter.key, "now": now}
        for letter in letters
        if letter.key is not None
    ]
    if not finished:
        return
    await tx.run_many(
        """UPDATE letter_key SET finished_at = :now
           WHERE queue = :queue AND lane = :lane AND key = :key""",
        finished,
    )
    await sweep(tx, now)


async def sweep(tx: Transaction, now: Micros) -> int:
    """Take away a few keys that are too old; how many."""
    rows = await tx.rows(
        """SELECT queue, lane, key FROM letter_key WHERE finished_at < :before
           ORDER BY finished_at LIMIT :some FOR UPDATE SKIP LOCKED""",
        before=now - KEPT_DAYS * DAY,
        some=SWEPT_AT_ONCE,
    )
    await tx.run_many(
        "DELETE FROM letter_key WHERE queue = :queue AND lane = :lane AND key = :key",
        [{"queue": queue, "lane": lane, "key": key} for queue, lane, key in rows],
    )
    return len(rows)
