"""What happens in one sitting with the companion, wherever the lines come from and go to?

Knows nothing of terminals.
"""

import asyncio
from collections.abc import Awaitable, Callable

from oldfriend.app.accepting import Accepted, Line, Said, accept, stop
from oldfriend.app.answering import see_answered
from oldfriend.app.house import House
from oldfriend.app.meanwhile import MAY_PASS, TalkPlace
from oldfriend.app.showing import explained, receipt_as_text
from oldfriend.app.waiting import Delay, beside_what_was_said, in_words
from oldfriend.domain.errors import InvalidInput, OldfriendError, TurnFailed, TurnStopped
from oldfriend.domain.messages import Message
from oldfriend.llm.model import Say
from oldfriend.memory.log import list_recent, list_written_since
from oldfriend.memory.receipts import find_receipt

SHOWN_AT_START = 6
HELP = """Just write. Commands:
  /why      what my last answer stood on
  /history  the last twenty messages here
  /help     this
  /quit     leave (or Ctrl-D)
Ctrl-C stops a reply."""

Write = Callable[[str], None]


class Conversation:
    """One sitting: what has been shown, so that nothing is shown twice or left out."""

    def __init__(
        self, place: TalkPlace, write: Write, speak: Say, *, remark: Write | None = None,
        end: str = "\n",
    ) -> None:  # fmt: skip
        """Begin, with ways to put a line before the person, and the pieces of a reply.

        ``remark`` is for what is no part of the talk (None: a line like others); ``end`` is
        spoken when a reply has come to its end.
        """
        self._place = place
        self.write = write
        self.speak = speak
        self.remark = remark or write
        self.end = end
        self.has_failed = False
        self._shown: set[int] = set()  # by seq, which every version of a message has for itself
        self._looked_to = 0
        self._shown_at_home: tuple[set[int], int] = set(), 0  # while the talk is in memory
        self._busy = asyncio.Lock()
        self._asked: Message | None = None  # what is being answered
        self._said = ""  # the last words: remarks are in their language
        self._told: set[type[OldfriendError]] = set()  # why it is not kept

    @property
    def house(self) -> House:
        """Where the talk is kept now."""
        return self._place.house

    @property
    def line(self) -> Line:
        """The line on which it is, there."""
        return self._place.line

    @property
    def is_kept(self) -> bool:
        """Whether everything is in the store that was said, as far as is known."""
        return not self._place.is_aside

    async def keep(self) -> bool:
        """Try to write what could not be kept; whether everything is kept. Says what was done.

        What still cannot be lies in a file until then, should this process not live to try again.
        """
        written = await self._place.come_home() if self._place.is_aside else None
        if written is None and self._place.is_aside:
            await self._place.put_into_safety()
            self._tell_why_not_kept()
        if written is not None:
            shown, looked_to = self._shown_at_home
            seqs = {each.seq for each in written}
            self._shown, self._looked_to = shown | seqs, looked_to or max(seqs, default=0)
            self.remark(beside_what_was_said("kept_again", self._said, self._language))
        return self.is_kept

    async def finish(self) -> None:
        """Try once more to keep everything, and say so where it cannot be."""
        if await self.keep():
            return
        self.has_failed = True
        count = await self._place.put_into_safety()
        how = "never_kept" if self._place.file is None else "kept_aside"
        left = beside_what_was_said(how, self._said, self._language)
        self.write(left.format(count=count, file=self._place.file))

    def _tell_why_not_kept(self) -> None:
        """Say once for each reason why the store is no good any more, where waiting will not do."""
        error = self._place.trouble
        if error is None or isinstance(error, MAY_PASS) or type(error) in self._told:
            return
        self._told.add(type(error))
        self.remark(str(error))

    async def begin(self) -> None:
        """Show where the talk stopped last time."""
        for message in await self._recent(SHOWN_AT_START):
            self.show(message)
        self._looked_to = max(self._shown, default=0)

    async def hear(self, text: str) -> bool:
        """Deal with one line; False when the person wants to leave. What fails is said."""
        command = text.strip().lower()
        if command in {"/quit", "/exit", "/q", "quit", "exit"}:
            return False
        try:
            await self._deal_with(command, text)
        except InvalidInput as error:
            self.write(str(error))
        except TurnFailed as error:
            self.has_failed = True
            self.write(str(error))
        except OldfriendError as error:
            self.has_failed = True
            self.write(f"That did not work. {error}\nYou wrote: {text}")
        return True

    async def reply_to(self, text: str) -> None:
        """Answer; a model's words are shown as they come, all others once they are kept.

        Why there are none yet is remarked beside it, and that they were stopped.
        """
        spoken: list[str] = []

        async def say(piece: str) -> None:
            spoken.append(piece)
            await self.speak(piece)

        async with self._busy:
            accepted = await self._take_in(text)
            self._asked = accepted.message
            try:
                given = await see_answered(
                    self.house, accepted, say=say if self.house.models else None, tell=self._tell
                )
            except TurnStopped:
                await self.speak("\n" if spoken else "")
                self.remark(beside_what_was_said("stopped", text, self._language))
                return
            finally:
                self._asked = None
                self._shown.add(accepted.message.seq)
            self._shown.add(given.reply.seq)
            if "".join(spoken) != given.reply.text:
                await self.speak(given.reply.text if not spoken else f"\n\n{given.reply.text}")
            await self.speak(self.end)

    async def _take_in(self, text: str) -> Accepted:
        """Write down what was said: in the store, or in memory while that cannot be written."""
        said = Said(text=text, at=self.house.clock())
        self._said = text
        await self.keep()
        try:
            accepted = await accept(self.house, self.line, said, to_answer=True)
        except MAY_PASS as error:
            if self._place.is_aside:
                raise
            self._shown_at_home = set(self._shown), self._looked_to
            await self._place.go_aside()
            self.remark(f"{error} {beside_what_was_said('not_kept', text, self._language)}")
            accepted = await accept(self.house, self.line, said, to_answer=True)
        assert accepted is not None  # it has no key that could be known
        return accepted

    async def stop_reply(self) -> None:
        """Have the reply that is being given stopped; nothing happens where there is none."""
        if self._asked is None:
            return
        try:
            await stop(self.house, self.line, self._asked.id)
        except OldfriendError as error:
            self.write(f"That did not work. {error}")

    async def explain(self) -> None:
        """Show what the last answer stood on."""
        async with self.house.db.reading() as tx:
            receipt = await find_receipt(tx, self.line.person.id)
            text = None if receipt is None else receipt_as_text(await explained(tx, receipt))
        self.write(text or "I haven't answered anything yet.")

    async def show_history(self) -> None:
        """Show the last messages of this chat."""
        for message in await self._recent(20):
            self.show(message)

    async def help(self) -> None:
        """Show the commands."""
        self.write(HELP)

    async def show_what_others_wrote(self) -> None:
        """Show what came into this chat through another process."""
        async with self._busy:
            async with self.house.db.reading() as tx:
                written = await list_written_since(
                    tx, self.line.person.id, self.line.chat.id, after=self._looked_to
                )
            for message in written:
                self._looked_to = message.seq
                if message.seq not in self._shown:
                    self.show(message)

    def show(self, message: Message) -> None:
        """Put one message before the person. A marker is none: it is a remark for models."""
        self._shown.add(message.seq)
        if message.role == "marker":
            return
        who = "you" if message.role == "person" else message.speaker
        self.write(f"{who}: {message.text}")

    async def _tell(self, delay: Delay) -> None:
        assert self._asked is not None  # or nobody would wait
        self.remark(in_words(delay, self._asked.text, self._language))

    async def _deal_with(self, command: str, text: str) -> None:
        actions: dict[str, Callable[[], Awaitable[None]]] = {
            "/why": self.explain, "/history": self.show_history, "/help": self.help,
        }  # fmt: skip
        if command in actions:
            await actions[command]()
        elif command.startswith("/") and " " not in command and command.count("/") == 1:
            self.write(f"There is no command {command}.\n{HELP}")
        elif command:
            await self.reply_to(text)

    @property
    def _language(self) -> str | None:
        return self.line.person.language or self.house.settings.language

    async def _recent(self, limit: int) -> list[Message]:
        async with self.house.db.reading() as tx:
            return await list_recent(tx, self.line.person.id, self.line.chat.id, limit=limit)
