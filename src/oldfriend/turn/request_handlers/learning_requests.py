"""Learning requests: what was learned, what conversations were about, and reading them now.

"/learning", "/learning add Read scans", "/learning done Read scans"; "/summary", "/summary 20",
"/summary status", "/summary now" and "/compact".
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.lang.command_menu import Command, read_command, translate_part
from oldfriend.memory.belief_views import list_summaries
from oldfriend.memory.limitation_store import MAX_TITLE_CHARS, Limitation, list_limitations
from oldfriend.memory.segments import (
    MAX_LEARNING_TURNS,
    MIN_LEARNING_TURNS,
    count_uncut_turns,
    find_learning_threshold,
    save_learning_threshold,
)
from oldfriend.turn.limitation_changes import NoteLimitation, decide_limitation, find_limitation
from oldfriend.turn.quotes import format_day
from oldfriend.turn.request_handlers.handler import (
    HandledRequest,
    HandlerContext,
    RequestHandler,
)
from oldfriend.turn.request_handlers.memory_requests import MemoryDesk
from oldfriend.turn.store_change import ChangeScope

NAME: Final = "learning"
SUMMARY: Final = "summary"
PARTS: Final = frozenset({"status", "now", "on", "off"})
"""What can be said of summaries, as "/summary status" or "/summary_status"."""
COMMANDS: Final = frozenset({NAME, "compact", SUMMARY, *(f"{SUMMARY}_{each}" for each in PARTS)})
ADD: Final = "add"
DONE: Final = frozenset({"done", "resolved"})
DEFAULT: Final = frozenset({"default", "auto", "reset"})
TITLE_END: Final = re.compile(
    r"""
    : (?= \s | $ )                # "Read scans: of letters", not "at 10:30"
    | (?<! \d ) \uff1a | \uff1a (?! \d )
    """,
    re.VERBOSE,
)
"""What stands between a title and what is told of it."""
MAX_SUMMARIES: Final = 5
MAX_SUMMARY_CHARS: Final = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadNow:
    """The change that has read what was said up to now; the commit schedules it."""

    async def apply(self, tx: Transaction, scope: ChangeScope) -> None:
        """Store nothing: what is read is not known before the commit."""
        del tx, scope


@dataclass(frozen=True, slots=True, kw_only=True)
class SetThreshold:
    """The change of how many messages are read together; None: as the settings say."""

    turns: int | None

    async def apply(self, tx: Transaction, scope: ChangeScope) -> None:
        """Store it."""
        await save_learning_threshold(tx, scope.person.id, self.turns)


async def handle_learning(context: HandlerContext) -> HandledRequest | None:
    """Handle a command about what is learned, and when."""
    command = read_command(context.text)
    if command is None or command.name not in COMMANDS:
        return None
    desk = LearningDesk(context)
    part = get_part(command)
    if command.name == "compact" or part == "now":
        return replace(desk.tell(desk.say["compact_begun"]), changes=(ReadNow(),))
    if command.name == NAME:
        return await desk.handle_limitation(command.words) or await desk.show_learning()
    if part == "status":
        return await desk.show_status()
    if part in {"on", "off"}:
        return desk.tell(desk.say["summary_switch"])
    return desk.choose_threshold(part) if part else await desk.show_summaries()


def get_part(command: Command) -> str:
    """Return what a command about summaries is to do: "/summary_now" is "/summary now"."""
    _, _, part = command.name.partition("_")
    return part or translate_part(command.words.strip())


class LearningDesk(MemoryDesk):
    """Shows a person what is learned of theirs, in the language of the reply."""

    async def load_state(self) -> str:
        """Return how much waits to be read, and after how many messages it is."""
        person, session = self.message.person, self.message.session
        async with self.context.db.begin_read() as tx:
            uncut = await count_uncut_turns(tx, person, session)
            every = await find_learning_threshold(tx, person)
        waiting = max(uncut.turns - 1, 0)  # the command itself tells nothing
        part = "learning_state" if every is None else "learning_every"
        return self.say[part].format(waiting=waiting, turns=every)

    async def show_learning(self) -> HandledRequest:
        """Show what was learned last, and what waits."""
        learned = await self.show_learned()
        parts = [learned.text, await self.load_state()]
        noted = [each for each in await self.load_limitations() if each.is_open]
        if noted:
            parts += [self.say["limitations_head"], *map(self.format_limitation, noted)]
        parts.append(self.say["limitations_how"])
        return replace(learned, text="\n".join(parts), records=tuple(each.id for each in noted))

    async def load_limitations(self) -> list[Limitation]:
        """Load what cannot be done yet, and what can since."""
        async with self.context.db.begin_read() as tx:
            return await list_limitations(tx, self.message.person)

    def format_limitation(self, each: Limitation) -> str:
        """Format a limitation as a line."""
        line = self.say["limitation_line"].format(title=each.title)
        told = f"{line}: {each.description}" if each.description else line
        return f"{told} {self.say['limitation_plan'].format(plan=each.plan)}" if each.plan else told

    async def handle_limitation(self, words: str) -> HandledRequest | None:
        """Note or resolve something that cannot be done yet; None for other words."""
        verb, _, rest = words.partition(" ")
        verb = translate_part(verb)
        if verb not in {ADD, *DONE} or not rest.strip():
            return None
        known = await self.load_limitations()
        if verb in DONE:
            return self.resolve(known, rest)
        title, *described = TITLE_END.split(rest, maxsplit=1)
        change = decide_limitation(
            known,
            self.context.utterance,
            title,
            description="".join(described),
            plan="",
            now=self.context.clock(),
        )
        if change is None:
            return self.tell(self.say["limitation_known"])
        text = self.say["limitation_noted"].format(title=change.limitation.title)
        return replace(self.tell(text), changes=(change,), records=(change.limitation.id,))

    def resolve(self, known: Sequence[Limitation], title: str) -> HandledRequest:
        """Resolve what is noted under a title."""
        found = find_limitation([each for each in known if each.is_open], title)
        if found is None:
            text = self.say["limitation_unknown"].format(title=title[:MAX_TITLE_CHARS])
            return self.tell(text)
        resolved = replace(found, is_open=False, changed_at=self.context.clock())
        return replace(
            self.tell(self.say["limitation_done"].format(title=found.title)),
            changes=(NoteLimitation(limitation=resolved, is_update=True),),
            records=(found.id,),
        )

    async def show_summaries(self) -> HandledRequest:
        """Show what the last conversations were about."""
        async with self.context.db.begin_read() as tx:
            known = await list_summaries(tx, self.message.person)
        newest = sorted(known, key=lambda each: each.until_at)[-MAX_SUMMARIES:]
        if not newest:
            return self.tell(f"{self.say['summary_none']}\n{self.say['summary_how']}")
        lines = [
            self.say["memory_line"].format(
                day=format_day(self.book, each.until_at, self.message.zone),
                text=" ".join(each.text.split())[:MAX_SUMMARY_CHARS],
            )
            for each in newest[::-1]
        ]
        text = "\n".join([self.say["summary_head"], *lines, self.say["summary_how"]])
        return self.tell(text)

    async def show_status(self) -> HandledRequest:
        """Show how many summaries there are, and what waits."""
        async with self.context.db.begin_read() as tx:
            every = await list_summaries(tx, self.message.person, active=False)
        counts = self.say["summary_counts"].format(
            active=sum(each.is_active for each in every),
            total=len(every),
        )
        return self.tell(f"{counts}\n{await self.load_state()}")

    def choose_threshold(self, words: str) -> HandledRequest:
        """Choose after how many messages a conversation is read."""
        if words in DEFAULT:
            change = SetThreshold(turns=None)
            return replace(self.tell(self.say["summary_default"]), changes=(change,))
        turns = int(words) if words.isascii() and words.isdecimal() and len(words) < 5 else 0
        if not MIN_LEARNING_TURNS <= turns <= MAX_LEARNING_TURNS:
            bounds = {"least": MIN_LEARNING_TURNS, "most": MAX_LEARNING_TURNS}
            return self.tell(self.say["summary_range"].format(**bounds))
        text = self.say["summary_every"].format(turns=turns)
        return replace(self.tell(text), changes=(SetThreshold(turns=turns),))


LEARNING_REQUESTS: Final = RequestHandler(name=NAME, handle=handle_learning)
