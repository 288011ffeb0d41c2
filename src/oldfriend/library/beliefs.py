"""What can a program ask of what is believed, and set right? The part of ``Memory`` about it."""

import math
from collections.abc import Sequence
from typing import Final

from oldfriend.app.accepting import Line
from oldfriend.app.believing.correcting import Verdict, changed_on, edit, judge, merge, separate
from oldfriend.app.believing.history import history_of
from oldfriend.app.believing.looking import Belief as Known
from oldfriend.app.believing.looking import about as only_about
from oldfriend.app.believing.looking import beliefs_at, list_beliefs, list_names, list_told
from oldfriend.app.believing.undoing import undo_import
from oldfriend.app.catching_up import catch_up
from oldfriend.app.given import bound
from oldfriend.app.house import House
from oldfriend.domain.errors import MemoryMisused
from oldfriend.domain.memories import Believed
from oldfriend.library.shapes import (
    Belief,
    Decided,
    Moment,
    belief_from,
    believed_from,
    decided_from,
)

NOT_OPEN: Final = (
    "This memory is not open. Use it inside its with block: `with Memory.open(...) as memory:`, "
    "or `async with` in a program that awaits."
)


class Beliefs:
    """What is believed of one person. Ids are given in full, or by their last characters."""

    def __init__(self, house: House, line: Line) -> None:
        """Internal: use ``Memory.open``."""
        self._opened: House | None = house
        self._line = line

    def close(self) -> None:
        """Internal: leaving the ``with`` does it."""
        self._opened = None

    async def consolidate(self) -> int:
        """Read everything that was kept, and learn from it; how many stretches of talk were read.

        By the connected model, else by rules. What fails is tried again the next time.
        """
        person = self._line.person.id
        done = await catch_up(
            self._house, person, because="asked", imported=True, patience_s=math.inf
        )  # fmt: skip
        return done.read

    async def facts(self) -> list[Belief]:
        """The facts and preferences that hold now, oldest first, each with its words."""
        async with self._house.db.reading() as tx:
            found = await list_beliefs(tx, self._line.person.id, kinds=["fact", "preference"])
        return self._shown(found)

    async def entities(self) -> list[Belief]:
        """Whom and what is known by name, uncertain ones among them (see ``status``)."""
        async with self._house.db.reading() as tx:
            found = await list_names(tx, self._line.person.id)
        return self._shown(found)

    async def summaries(self) -> list[Belief]:
        """What was said, in short: the highest level first."""
        async with self._house.db.reading() as tx:
            found = await list_told(tx, self._line.person.id)
        return self._shown([Known(what=each) for each in found])

    async def beliefs(
        self, *, as_of: Moment | None = None, about: str | None = None
    ) -> list[Belief]:
        """Everything believed now, or at a moment; all of it, or what is about a name.

        Raises InvalidInput, NotFound for a name that nobody has.
        """
        at = bound(as_of, "as_of", self._line.person.zone) or self._house.clock()
        async with self._house.db.reading() as tx:
            person = self._line.person.id
            found = await beliefs_at(tx, person, at)
            if about is not None:
                found = await only_about(tx, person, about, found)
        return self._shown(found)

    async def history(self, belief: str) -> list[Decided]:
        """What was decided about a belief, and about what it overtook, oldest first.

        Raises NotFound, InvalidInput.
        """
        async with self._house.db.reading() as tx:
            told = await history_of(tx, self._line.person.id, belief)
        return [decided_from(step, self._line.person.zone) for step in told.steps]

    async def correct(
        self, belief: str, text: str, *, value: str | None = None, since: str | None = None
    ) -> list[Belief]:
        """Say it right: what is so, and what that overtakes. Of a name, who or what it is.

        The old value was a mistake; with ``since`` (a date) it was so until then. It holds at once,
        and no inference overrules it. Raises NotFound, InvalidInput.
        """
        person = self._line.person
        decided = await edit(
            self._house, person.id, belief, text, value=value,
            since=changed_on(since, person.zone),
        )  # fmt: skip
        return self._decided(decided)

    async def pin(self, belief: str) -> list[Belief]:
        """Let it never fade, nor be merged away. Raises NotFound, InvalidInput."""
        return await self._judge("pin", belief)

    async def unpin(self, belief: str) -> list[Belief]:
        """Let it fade like others. Raises NotFound, InvalidInput."""
        return await self._judge("unpin", belief)

    async def confirm(self, belief: str) -> list[Belief]:
        """It is so. Raises NotFound, InvalidInput."""
        return await self._judge("confirm", belief)

    async def reject(self, belief: str) -> list[Belief]:
        """It is not so, and is not learned again from the same words.

        With it comes what it had overtaken, which holds again. Raises NotFound, InvalidInput.
        """
        return await self._judge("reject", belief)

    async def merge(self, belief: str, other: str) -> list[Belief]:
        """Two say or name the same: the second joins the first. Raises NotFound, InvalidInput."""
        return self._decided(await merge(self._house, self._line.person.id, belief, other))

    async def separate(self, belief: str, other: str) -> list[Belief]:
        """Two are not the same, and stay two. Raises NotFound, InvalidInput."""
        return self._decided(await separate(self._house, self._line.person.id, belief, other))

    async def undo_import(self, number: int) -> int:
        """Take an import out, with what was believed because of it; how many messages went.

        The numbers are those of ``oldfriend import list``. Raises NotFound.
        """
        return (await undo_import(self._house, self._line.person, number)).messages

    async def _judge(self, verdict: Verdict, belief: str) -> list[Belief]:
        return self._decided(await judge(self._house, self._line.person.id, verdict, belief))

    def _shown(self, found: Sequence[Known]) -> list[Belief]:
        return [belief_from(each, self._line.person.zone) for each in found]

    def _decided(self, decided: Sequence[Believed]) -> list[Belief]:
        return [believed_from(each, self._line.person.zone) for each in decided]

    @property
    def _house(self) -> House:
        if self._opened is None:
            raise MemoryMisused(NOT_OPEN)
        return self._opened
