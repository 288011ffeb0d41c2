"""Belief methods: the part of ``Memory`` that queries and corrects beliefs."""

import math
from collections.abc import Sequence

from oldfriend.beliefs.correct import (
    BeliefAction,
    apply_belief_action,
    edit_belief_text,
    merge_beliefs,
    parse_since,
    separate_beliefs,
    undo_import,
)
from oldfriend.beliefs.queries import BeliefDetails as Known
from oldfriend.beliefs.queries import filter_beliefs_about as only_about
from oldfriend.beliefs.queries import (
    get_history,
    list_beliefs,
    list_beliefs_at,
    list_conversation_summaries,
    list_entity_beliefs,
    list_unconfirmed,
    load_decided_beliefs,
)
from oldfriend.domain.belief_kinds import ATTRIBUTE_KINDS
from oldfriend.domain.memories import JournalObject
from oldfriend.learning.eager_extraction import extract_unread
from oldfriend.presenters.belief_schemas import Belief
from oldfriend.presenters.history_schemas import Decision
from oldfriend.runtime.learn_now import learn_now
from oldfriend.runtime.maintenance import maintain
from oldfriend.sdk.input_validation import (
    TimeInput,
    parse_bound,
    parse_number,
    parse_optional_text,
    parse_text,
)
from oldfriend.sdk.open_memory import OpenMemory


class BeliefMethods(OpenMemory):
    """One person's beliefs; ids may be given in full or by their last characters."""

    async def consolidate(self) -> int:
        """Read all stored messages and learn from them; return how many segments were read.

        The connected model reads, else rules do. Due follow-up jobs are run too (see
        ``Memory.maintain``). What fails is retried the next time.
        """
        person = self._chat_context.person.id
        result = await learn_now(self._app, person, cut_reason="asked", wait_s=math.inf)
        await maintain(self._app, person)
        return result.read

    async def facts(self) -> list[Belief]:
        """Return the current facts and preferences with their evidence, oldest first.

        Without a connected model, rules read new messages first (see ``consolidate``).
        """
        await self._extract_unread()
        async with self._app.db.begin_read() as tx:
            found = await list_beliefs(tx, self._chat_context.person.id, kinds=ATTRIBUTE_KINDS)
        return self._to_beliefs(found)

    async def unconfirmed(self) -> list[Belief]:
        """Return what is not believed before ``confirm`` or ``reject``, the newest first.

        A language model has read it in words that may be another's, or not meant.
        """
        async with self._app.db.begin_read() as tx:
            found = await list_unconfirmed(tx, self._chat_context.person.id)
        return self._to_beliefs(found)

    async def entities(self) -> list[Belief]:
        """Return the entities known by name, including uncertain ones (see ``status``)."""
        await self._extract_unread()
        async with self._app.db.begin_read() as tx:
            found = await list_entity_beliefs(tx, self._chat_context.person.id)
        return self._to_beliefs(found)

    async def summaries(self) -> list[Belief]:
        """Return the summaries of conversations, the highest level first; none without a model."""
        async with self._app.db.begin_read() as tx:
            found = await list_conversation_summaries(tx, self._chat_context.person.id)
        return self._to_beliefs([Known(content=each) for each in found])

    async def beliefs(
        self, *, as_of: TimeInput | None = None, about: str | None = None
    ) -> list[Belief]:
        """Return all beliefs held now, or at a moment; with ``about`` only those about a name.

        Raises InvalidInput, NotFound for an unknown name.
        """
        name = parse_optional_text(about, "about")
        at = parse_bound(as_of, "as_of", self._chat_context.person.zone) or self._app.clock()
        if as_of is None:
            await self._extract_unread()
            at = self._app.clock()
        async with self._app.db.begin_read() as tx:
            person = self._chat_context.person.id
            found = await list_beliefs_at(tx, person, at)
            if name is not None:
                found = await only_about(tx, person, name, found)
        return self._to_beliefs(found)

    async def history(self, belief: str) -> list[Decision]:
        """Return the decisions about a belief and those it superseded, oldest first.

        Raises NotFound, InvalidInput.
        """
        belief_id = parse_text(belief, "belief")
        async with self._app.db.begin_read() as tx:
            history = await get_history(tx, self._chat_context.person.id, belief_id)
        return [
            Decision.from_domain(step, self._chat_context.person.zone) for step in history.entries
        ]

    async def correct(
        self, belief: str, text: str, *, value: str | None = None, since: str | None = None
    ) -> list[Belief]:
        """Correct a belief, or the description of an entity; return it and what it supersedes.

        The old value counts as a mistake; with ``since`` (a date) it was true until then. The
        correction holds at once, and no inference overrules it. Raises NotFound, InvalidInput.
        """
        person = self._chat_context.person
        decided = await edit_belief_text(
            self._app.db,
            self._app.clock,
            person.id,
            parse_text(belief, "belief"),
            parse_text(text, "text"),
            value=parse_optional_text(value, "value"),
            since=parse_since(parse_optional_text(since, "since"), person.zone),
        )
        return await self._load_decided(decided)

    async def pin(self, belief: str) -> list[Belief]:
        """Protect a belief from fading and from being merged away.

        Raises NotFound, InvalidInput.
        """
        return await self._set_verdict("pin", belief)

    async def unpin(self, belief: str) -> list[Belief]:
        """Let a belief fade like others. Raises NotFound, InvalidInput."""
        return await self._set_verdict("unpin", belief)

    async def confirm(self, belief: str) -> list[Belief]:
        """Confirm that a belief is true. Raises NotFound, InvalidInput."""
        return await self._set_verdict("confirm", belief)

    async def reject(self, belief: str) -> list[Belief]:
        """Reject a belief as false; it is not learned again from the same messages.

        What it had superseded holds again and is returned with it. Raises NotFound, InvalidInput.
        """
        return await self._set_verdict("reject", belief)

    async def merge(self, belief: str, other: str) -> list[Belief]:
        """Merge the second of two beliefs into the first. Raises NotFound, InvalidInput."""
        return await self._load_decided(
            await merge_beliefs(
                self._app,
                self._chat_context.person.id,
                parse_text(belief, "belief"),
                parse_text(other, "other"),
            )
        )

    async def separate(self, belief: str, other: str) -> list[Belief]:
        """Separate two beliefs for good. Raises NotFound, InvalidInput."""
        return await self._load_decided(
            await separate_beliefs(
                self._app,
                self._chat_context.person.id,
                parse_text(belief, "belief"),
                parse_text(other, "other"),
            )
        )

    async def undo_import(self, number: int) -> int:
        """Remove an import and the beliefs based on it; return how many messages were removed.

        The numbers are those of ``oldfriend import list``. Raises NotFound.
        """
        undone = await undo_import(
            self._app.db,
            self._app.clock,
            self._app.settings,
            self._chat_context.person,
            parse_number(number, "number"),
        )
        return undone.messages

    async def _extract_unread(self) -> None:
        await extract_unread(self._app, self._chat_context.person.id)

    async def _set_verdict(self, verdict: BeliefAction, belief: str) -> list[Belief]:
        return await self._load_decided(
            await apply_belief_action(
                self._app.db,
                self._app.clock,
                self._chat_context.person.id,
                verdict,
                parse_text(belief, "belief"),
            )
        )

    def _to_beliefs(self, found: Sequence[Known]) -> list[Belief]:
        zone, now = self._chat_context.person.zone, self._app.clock()
        return [Belief.from_domain(each, zone, now=now) for each in found]

    async def _load_decided(self, decided: Sequence[JournalObject]) -> list[Belief]:
        async with self._app.db.begin_read() as tx:
            found = await load_decided_beliefs(tx, self._chat_context.person.id, decided)
        return self._to_beliefs(found)

    def _close(self) -> None:
        self._open_app = None
