"""How are blocks drafted from material? Read by the small model or by rules, put before the person.

What comes of it are suggestions: nothing stands in a block before the person has said yes.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from oldfriend.app.charging import LedgerAccount
from oldfriend.app.house import House
from oldfriend.app.persona.classifying import MOST_TOKENS, PROMPT, classify
from oldfriend.app.persona.findings import Finding, sorted_into_blocks
from oldfriend.app.persona.material import Piece
from oldfriend.app.persona.plain_rules import BY_RULES, read_plainly
from oldfriend.app.thinking import background_model
from oldfriend.domain.errors import BrokenOutput
from oldfriend.domain.messages import estimate_tokens
from oldfriend.domain.people import Person
from oldfriend.ledger.calls import Asker
from oldfriend.llm.model import Model
from oldfriend.memory.suggestions import Suggestion, suggest
from oldfriend.prompts.prompt import get_prompt

Read = Callable[[Piece], Awaitable[list[Finding]]]
Show = Callable[[int, int], None]
"""Told how many pieces of how many are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What was drafted, and how much was left out and why."""

    suggestions: tuple[Suggestion, ...]
    left_out: Mapping[str, int]
    by: str  # the prompt or the rules


def unseen(_done: int, _total: int) -> None:
    """Nobody looks on."""


async def draft(
    house: House, person: Person, pieces: Sequence[Piece], *, with_model: bool, show: Show = unseen
) -> Draft:
    """Suggestions for the blocks of a person, of what stands in some pieces.

    Raises AllowanceUsedUp, and what the model raises; then nothing is suggested.
    """
    asker = Asker(person=person.id, is_background=True)
    model = await background_model(house, asker, "small") if with_model else None
    if model is not None:
        account = LedgerAccount(
            db=house.db, settings=house.settings, clock=house.clock, asker=asker
        )
        await account.check()
    findings, unread = await read_all(pieces, reading(model, person), show)
    by = BY_RULES if model is None else PROMPT
    files = list(dict.fromkeys(piece.source for piece in pieces))
    found = sorted_into_blocks(findings, by=by, files=files)
    left_out = Counter(found.left_out)
    made: list[Suggestion] = []
    async with house.db.writing() as tx:
        for proposal in found.proposals:
            suggestion = await suggest(tx, person.id, proposal, now=house.clock())
            left_out["suggested or written already"] += suggestion is None
            made += [suggestion] if suggestion is not None else []
    left_out["pieces that the model could not read"] += unread
    left = {what: count for what, count in left_out.items() if count}
    return Draft(suggestions=tuple(made), left_out=left, by=by)


def reading(model: Model | None, person: Person) -> Read:
    """The way to read a piece: by a model where there is one."""

    async def read(piece: Piece) -> list[Finding]:
        return read_plainly(piece, person) if model is None else await classify(model, piece)

    return read


async def read_all(pieces: Sequence[Piece], read: Read, show: Show) -> tuple[list[Finding], int]:
    """What stands in the pieces, and how many could not be read."""
    findings: list[Finding] = []
    unread = 0
    for done, piece in enumerate(pieces):
        show(done, len(pieces))
        try:
            findings += await read(piece)
        except BrokenOutput:
            unread += 1
    return findings, unread


def tokens_to_read(pieces: Sequence[Piece]) -> tuple[int, int]:
    """How many tokens a model would take to read these, and at most give back."""
    instructions = estimate_tokens(get_prompt(PROMPT).parts["stable"])
    taken = sum(instructions + estimate_tokens(piece.text) for piece in pieces)
    return taken, MOST_TOKENS * len(pieces) // 4
