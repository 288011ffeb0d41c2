"""What was said and is not answered yet? A lane for each chat, a letter for each thing to react to.

A message that joins a turn which still waits for more (``joining``) puts that whole turn off a
little. The messages of a turn are one group of letters; what becomes of them later (edits, stops)
is another. Knows where a message stands in the log, not what it says.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal, TypeAlias, cast, get_args

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import ChatId, MessageId, PersonId, TurnId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.letters import Letter, Queue
from oldfriend.queues.bodies import count_in, text_in, unreadable
from oldfriend.queues.joining import Piece, due_at, joins, may_join
from oldfriend.queues.keys import let_keys_age
from oldfriend.queues.lanes import handed_out, lock, postpone, put, settle
from oldfriend.queues.letters import (
    find_first,
    find_letter,
    is_due,
    last_letters,
    letters_of_group,
    remove,
    write_body,
)

Kind: TypeAlias = Literal["said", "edited", "stop"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a turn stands that still waits for its answer."""

    is_first: bool  # nothing of its chat is to be answered before it
    due_at: Micros  # by which time it may be begun
    has_failed: bool  # it was begun before, and is to be tried again


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """Something that a person did in a chat: the version of a message, and the turn it is for."""

    kind: Kind
    message: MessageId
    version: int
    turn: TurnId
    chars: int
    number: int | None = None  # the channel's own, where it counts messages
    key: str | None = None  # by which it is known when it is delivered again
    speaker: str | None = None  # who has said it, where it is not the person of the lane


async def find_turn(
    tx: Transaction, chat: ChatId, piece: Piece, *, quiet_s: float
) -> TurnId | None:
    """The turn that still waits and that a piece, arriving now, joins; None: it begins a new one.

    Locks the lane, so that nobody begins that turn before the piece is in it.
    """
    if not may_join(piece, quiet_s=quiet_s):
        return None
    await lock(tx, "inbox", chat)
    turn = await open_turn(tx, chat, now=piece.at)
    if not turn or not joins([piece_of(letter) for letter in turn], piece, quiet_s=quiet_s):
        return None
    return word_of(turn[0]).turn


async def put_word(
    tx: Transaction, chat: ChatId, person: PersonId, word: Word, *, quiet_s: float,
    now: Micros, earliest: Micros = 0,
) -> Letter | None:  # fmt: skip
    """Have something reacted to; None if its key is known. An edit or a stop waits for nothing.

    ``earliest``: from when on it may be answered, where there is a limit to that.
    """
    body: dict[str, JsonValue] = {
        "kind": word.kind, "message": word.message, "version": word.version, "turn": word.turn,
        "chars": word.chars, "number": word.number,
    }  # fmt: skip
    if word.kind != "said":
        letter = await put(
            tx, "inbox", chat, body, person=person, now=now, key=word.key, group=about(word.turn)
        )
        await tx.wake()  # also where the lane is held: who is at work on the turn listens
        return letter
    if word.speaker is not None:
        body |= {"speaker": word.speaker}
    piece = Piece(
        sender=word.speaker or person, number=word.number, chars=word.chars, at=now
    )  # fmt: skip
    begun: list[Letter] = []
    if may_join(piece, quiet_s=quiet_s):
        await lock(tx, "inbox", chat)
        waiting = await open_turn(tx, chat, now=now)
        begun = [letter for letter in waiting if word_of(letter).turn == word.turn]
    due = max(due_at([*map(piece_of, begun), piece], quiet_s=quiet_s), earliest)
    letter = await put(
        tx, "inbox", chat, body, person=person, now=now, due_at=due, key=word.key,
        group=word.turn,
    )  # fmt: skip
    if letter is not None and begun:
        await postpone(tx, "inbox", chat, since=begun[0].seq, due_at=due)
    return letter


async def open_turns(tx: Transaction) -> frozenset[TurnId]:
    """The turns of all chats that wait for their answer."""
    rows = await tx.rows(
        """SELECT DISTINCT "group" FROM letter
           WHERE queue = 'inbox' AND parked_at IS NULL AND "group" IS NOT NULL"""
    )
    return frozenset(TurnId(row[0]) for row in rows)  # what is about a turn is no turn's name


async def list_notices(tx: Transaction, chat: str, turn: TurnId) -> tuple[Letter, ...]:
    """What has become of the messages of a turn since they were said: edits and stops."""
    return await letters_of_group(tx, "inbox", chat, about(turn))


async def note_shown(tx: Transaction, turn: Sequence[Letter], key: str) -> None:
    """Note which message of a platform shows the reply to a turn while it is being written."""
    await write_body(tx, turn[0], {**turn[0].body, "shown": key})


async def find_shown(tx: Transaction, turn: Sequence[Letter]) -> str | None:
    """The key of that message; None: there is none."""
    letter = await find_letter(tx, "inbox", turn[0].lane, turn[0].seq)
    shown = None if letter is None else letter.body.get("shown")
    return shown if isinstance(shown, str) else None


async def withdraw(tx: Transaction, chat: ChatId, turn: TurnId, *, now: Micros) -> bool:
    """Take away a turn that nobody has begun, or that is set aside; False: it is begun, or over."""
    await lock(tx, "inbox", chat)
    letters = await letters_of_group(tx, "inbox", chat, turn)
    begun = await handed_out(tx, "inbox", chat)
    if not letters or any(each.seq <= begun and not each.is_parked for each in letters):
        return False
    await remove(tx, letters)
    await let_keys_age(tx, letters, now=now)
    await settle(tx, "inbox", chat)
    await tx.wake()
    return True


async def is_open(tx: Transaction, queue: Queue, lane: str, turn: TurnId) -> bool:
    """Whether a turn still waits for its answer, and is not set aside."""
    letters = await letters_of_group(tx, queue, lane, turn)
    return any(not letter.is_parked for letter in letters)


async def find_standing(tx: Transaction, chat: ChatId, turn: TurnId) -> Standing | None:
    """How a turn stands among what waits in its chat; None: it does not wait."""
    of_turn = await letters_of_group(tx, "inbox", chat, turn)
    letters = [each for each in of_turn if not each.is_parked]
    if not letters:
        return None
    first = await find_first(tx, "inbox", chat)
    return Standing(
        is_first=first is None or first.seq >= letters[0].seq,
        due_at=letters[0].due_at,
        has_failed=any(each.error is not None for each in letters),
    )


async def list_unanswered(tx: Transaction, person: PersonId) -> dict[TurnId, bool]:
    """A person's turns that still wait for their answer, on all channels; True: set aside."""
    rows = await tx.rows(
        """SELECT "group", max(CASE WHEN parked_at IS NULL THEN 0 ELSE 1 END) FROM letter
           WHERE queue = 'inbox' AND person = :person AND body LIKE '{"kind": "said",%'
           GROUP BY 1""",
        person=person,
    )
    return {TurnId(turn): bool(is_parked) for turn, is_parked in rows}


async def open_turn(tx: Transaction, chat: ChatId, *, now: Micros) -> list[Letter]:
    """The letters of the newest turn of a chat, if nobody can have begun it yet."""
    newest_first = await last_letters(tx, "inbox", chat)
    if not newest_first:
        return []
    turn = word_of(newest_first[0]).turn
    letters = list(takewhile(lambda letter: is_said_in(letter, turn), newest_first))[::-1]
    if not letters or any(is_due(letter, now=now) for letter in letters):
        return []
    is_begun = letters[0].seq <= await handed_out(tx, "inbox", chat)  # by a clock that is ahead
    return [] if is_begun else letters


def first_turn(letters: tuple[Letter, ...]) -> tuple[Letter, ...]:
    """The letters, from the first on, that are to be dealt with in one go."""
    turn = word_of(letters[0]).turn
    return tuple(takewhile(lambda letter: is_said_in(letter, turn), letters)) or letters[:1]


def about(turn: TurnId) -> str:
    """The group of what becomes of a turn's messages, which has a fate of its own."""
    return f"about {turn}"


def is_said_in(letter: Letter, turn: TurnId) -> bool:
    """Whether a letter is a message of this turn."""
    word = word_of(letter)
    return word.kind == "said" and word.turn == turn


def piece_of(letter: Letter) -> Piece:
    """A letter as far as joining looks at it."""
    word = word_of(letter)
    return Piece(
        sender=word.speaker or letter.person, number=word.number, chars=word.chars,
        at=letter.put_at,
    )  # fmt: skip


def word_of(letter: Letter) -> Word:
    """What a letter of the inbox is about. Raises InvalidInput."""
    kind = text_in(letter, "kind")
    if kind not in get_args(Kind):
        raise unreadable(letter, "kind")
    return Word(
        kind=cast("Kind", kind),
        message=MessageId(text_in(letter, "message")),
        version=count_in(letter, "version"),
        turn=TurnId(text_in(letter, "turn")),
        chars=count_in(letter, "chars"),
        number=None if letter.body.get("number") is None else count_in(letter, "number"),
        key=letter.key,
        speaker=text_in(letter, "speaker") if "speaker" in letter.body else None,
    )
