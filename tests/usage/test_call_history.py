"""What models were shown and how they did is looked up in what was kept of their calls."""

from oldfriend.db.database import Database
from oldfriend.domain.ids import PersonId, TurnId
from oldfriend.usage.model_calls import find_last_call, list_shown_ids


async def test_call_history_is_empty_for_an_unknown_model_or_turn(db: Database) -> None:
    """Expected absence."""
    async with db.begin_read() as tx:
        assert await find_last_call(tx, "nobody:none") is None
        assert await list_shown_ids(tx, PersonId("p"), TurnId("t")) == ()
