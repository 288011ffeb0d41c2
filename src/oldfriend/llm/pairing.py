"""Has every tool call its result, and every result its call? Providers refuse anything else.

It does not know why one is missing: a turn was cut off, a window begins in the middle.
"""

from collections.abc import Sequence
from itertools import takewhile

from oldfriend.llm.model import ToolResult, Turn


def whole_pairs(turns: Sequence[Turn | ToolResult]) -> tuple[Turn | ToolResult, ...]:
    """The turns without calls that have no result right after them, and without lone results."""
    whole: list[Turn | ToolResult] = []
    for place, turn in enumerate(turns):
        if isinstance(turn, Turn) and turn.calls:
            given = takewhile(lambda each: isinstance(each, ToolResult), turns[place + 1 :])
            whole.extend(_paired(turn, [each for each in given if isinstance(each, ToolResult)]))
        elif isinstance(turn, Turn) and turn.text:
            whole.append(turn)
    return tuple(whole)


def _paired(turn: Turn, given: Sequence[ToolResult]) -> list[Turn | ToolResult]:
    """A turn with the calls that were answered, and the first answer to each, in their order."""
    answers = {result.id: result for result in reversed(given)}
    asked = {call.id: call for call in reversed(turn.calls) if call.id in answers}
    calls = tuple(call for call in turn.calls if asked.get(call.id) is call)
    if not calls and not turn.text:
        return []
    if calls != turn.calls:  # the echo speaks of the calls that are gone
        turn = Turn(role=turn.role, text=turn.text, calls=calls)
    return [turn, *(answers[call.id] for call in calls)]
