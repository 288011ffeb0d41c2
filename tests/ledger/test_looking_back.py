"""What models were shown and how they did is looked up in what was kept of their calls."""

from oldfriend.db.database import Database
from oldfriend.domain.ids import PersonId, TurnId
from oldfriend.ledger.looking_back import find_last_call, list_shown


async def test_nothing_is_known_of_what_was_never_asked(db: Database) -> None:
    """Expected absence."""
    async with db.reading() as tx:
        assert await find_last_call(tx, "nobody:none") is None
        assert await list_shown(tx, PersonId("p"), TurnId("t")) == ()
