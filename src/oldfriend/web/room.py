"""Who has their page open in this process, and what is being said to them just now?

Replies are written here as they are asked for, so that their words can be shown as they come, and
then spoken where that is wanted. Nothing rests on it: what was said waits in the inbox, and if this
process ends, another answers. It knows nothing of HTTP.
"""

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Literal

from typing_extensions import override

from oldfriend.app.accepting import Accepted
from oldfriend.app.answering import see_answered
from oldfriend.app.bringing import Porter
from oldfriend.app.holding import Hold
from oldfriend.app.house import House
from oldfriend.app.packing import Packer
from oldfriend.app.parcels import BROUGHT
from oldfriend.app.running.telling import tell_trouble
from oldfriend.app.speaking import spoken
from oldfriend.app.waiting import Delay, in_words
from oldfriend.app.waking import Bell, ring_when
from oldfriend.domain.errors import OldfriendError, TurnStopped
from oldfriend.domain.ids import MessageId, PersonId, TurnId
from oldfriend.domain.messages import Message
from oldfriend.domain.sayings import saying

MOST_AT_ONCE: Final = 64
"""So many replies are written here; of more, only the end is seen."""
MOST_SPEAKING: Final = 4
"""So many replies are spoken at once; they are held in memory whole."""
MOST_STREAMS: Final = 32
"""So often one person may have their page open in one process."""
SWEEP_S: Final = 30.0


@dataclass(slots=True, kw_only=True)
class Draft:
    """A reply that is being written, as far as it has come; and why it has not come further."""

    person: PersonId
    asked: MessageId
    turn: TurnId
    text: str = ""
    remark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passing:
    """Something that those who look on are told, and that is kept nowhere for others."""

    number: int
    person: PersonId
    what: Literal["failed", "voice ready"]
    message: MessageId  # which was not answered; the reply that can be heard
    why: str = ""


class Seat(Bell):
    """Where somebody has their page open: rung for words as they come, and for all that is kept."""

    def __init__(self) -> None:
        """What was kept before is still to be looked for."""
        super().__init__()
        self._has_news = True

    @override
    def ring(self) -> None:
        """Something may have been kept."""
        self._has_news = True
        super().ring()

    def ring_for_words(self) -> None:
        """Something is being said, of which nothing is kept yet."""
        super().ring()

    @override
    async def wait(self, timeout_s: float) -> None:
        """Wait for a ring; who has waited in vain has news to look for all the same."""
        clock = asyncio.get_running_loop().time
        until = clock() + timeout_s
        await super().wait(timeout_s)
        self._has_news = self._has_news or clock() >= until

    def take_news(self) -> bool:
        """Whether something may have been kept since it was last asked."""
        has_news, self._has_news = self._has_news, False
        return has_news


class Room:
    """What the pages share that are open in this process."""

    def __init__(self, house: House, *, port: int) -> None:
        """Nobody is here yet."""
        self.house = house  # as it is now; another when settings were read again
        self.port = port
        self.porter = Porter(house.settings.data / BROUGHT)
        self.packer = Packer(house.settings.data)
        self.drafts: dict[TurnId, Draft] = {}
        self._passed: deque[Passing] = deque(maxlen=MOST_AT_ONCE)
        self._passings = 0
        self._spoken: deque[MessageId] = deque(maxlen=MOST_AT_ONCE)
        self._speaking: set[asyncio.Task[None]] = set()
        self._voices = asyncio.Semaphore(MOST_SPEAKING)
        self._has_ended = False
        self._asked: deque[Accepted] = deque()
        self._hands: set[Bell] = set()
        self._seats: dict[PersonId, set[Seat]] = {}
        self.endings = 0  # how often somebody's ways in were ended here

    @property
    def is_closing(self) -> bool:
        """Whether all pages are to go: the process ends, and nothing more is said here."""
        return self._has_ended and not (self._hands or self.drafts)

    @property
    def has_hands(self) -> bool:
        """Whether a reply can be written here now."""
        return bool(self._hands) and len(self.drafts) + len(self._asked) < MOST_AT_ONCE

    async def have_answered(self, accepted: Accepted) -> None:
        """Have something answered here that was taken in; by others, where nobody is here now."""
        if not self._hands:
            if accepted.claim is not None:
                await Hold(self.house, accepted.claim).give_back()
            return
        self._asked.append(accepted)
        for bell in self._hands:
            bell.ring()

    async def answer_here(self, house: House, stopping: asyncio.Event) -> None:
        """Answer what is asked in open pages until told to stop; end what was begun."""
        self.house, self._has_ended = house, False
        bell = Bell()
        self._hands.add(bell)
        self.ring()
        try:
            async with asyncio.TaskGroup() as talks:
                talks.create_task(ring_when(stopping, bell))
                while not stopping.is_set():
                    self._begin_asked(house, talks)
                    await bell.wait(SWEEP_S)
                self._hands.discard(bell)  # what is said from now on is for others
                self._begin_asked(house, talks)
                for each in self._speaking:  # the text of it is there
                    each.cancel()
        finally:
            self._hands.discard(bell)
            self._has_ended = stopping.is_set()
            self.ring()

    def _begin_asked(self, house: House, talks: asyncio.TaskGroup) -> None:
        """Begin with everything that was asked for."""
        while self._asked:
            talks.create_task(self._answer(house, self._asked.popleft(), talks))

    async def _answer(self, house: House, accepted: Accepted, talks: asyncio.TaskGroup) -> None:
        """See one thing answered, its words shown as they come; and then spoken."""
        said = accepted.message
        assert said.turn is not None  # what was accepted has one
        draft = Draft(person=said.person, asked=said.id, turn=said.turn)
        self.drafts[said.turn] = draft

        async def say(piece: str) -> None:
            draft.text += piece
            self._ring_for_words(said.person)

        async def tell(delay: Delay) -> None:
            draft.remark = in_words(delay, said.text, said.language)
            self._ring_for_words(said.person)

        given = None
        try:
            given = await see_answered(
                house, accepted, say=say if house.models else None, tell=tell
            )
        except TurnStopped:
            pass  # the log says so to everybody
        except OldfriendError as error:
            self._note(said, "failed", why_unanswered(error))
        finally:
            del self.drafts[said.turn]
            self.ring(said.person)
        if given is not None and self._hands and given.reply.id not in self._spoken:
            self._spoken.append(given.reply.id)  # several may have been answered by it
            speaking = talks.create_task(self._speak(house, given.reply))
            self._speaking.add(speaking)
            speaking.add_done_callback(self._speaking.discard)

    async def _speak(self, house: House, reply: Message) -> None:
        """Have a reply spoken, where that is wanted; its text is there already."""
        try:
            async with self._voices:
                speech = await spoken(house, reply.person, reply.id)
        except Exception as error:  # the text is to do; everybody else's replies go on
            tell_trouble("not-spoken", error)
            return
        if speech is not None:
            self._note(reply, "voice ready")
            self.ring(reply.person)

    def _note(
        self, message: Message, what: Literal["failed", "voice ready"], why: str = ""
    ) -> None:
        self._passings += 1
        self._passed.append(Passing(
            number=self._passings, person=message.person, what=what, message=message.id, why=why
        ))  # fmt: skip

    def passed_since(self, person: PersonId, number: int) -> list[Passing]:
        """What a person is told, after the thing with a number."""
        return [each for each in self._passed if each.person == person and each.number > number]

    @property
    def last_passing(self) -> int:
        """The number of the newest of them, of anybody."""
        return self._passings

    def is_full_for(self, person: PersonId) -> bool:
        """Whether somebody has their page open too often."""
        return len(self._seats.get(person, ())) >= MOST_STREAMS

    @contextmanager
    def seat(self, person: PersonId) -> Iterator[Seat]:
        """Where a person has their page open, as long as they have."""
        seat = Seat()
        with self.house.waking.bell(seat):
            self._seats.setdefault(person, set()).add(seat)
            try:
                yield seat
            finally:
                self._seats[person].discard(seat)
                if not self._seats[person]:
                    del self._seats[person]

    def note_ending(self, person: PersonId) -> None:
        """Have a person's open pages look whether they are still signed in."""
        self.endings += 1
        self.ring(person)

    def _ring_for_words(self, person: PersonId) -> None:
        """Have a person hear what is being said."""
        for seat in self._seats.get(person, ()):
            seat.ring_for_words()

    def ring(self, person: PersonId | None = None) -> None:
        """Have a person (None: everybody) look for what is new."""
        seats = self._seats.values() if person is None else [self._seats.get(person, set())]
        for seat in [each for those in seats for each in those]:
            seat.ring()


def why_unanswered(error: OldfriendError) -> str:
    """Why there is no reply; of what was behind it a page may know more than of the whole."""
    behind = error.__cause__
    if not isinstance(behind, OldfriendError):
        return error.says
    return saying("turn_failed_by", str(error), says=str(error), why=behind.says)
