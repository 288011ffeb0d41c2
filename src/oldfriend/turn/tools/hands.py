"""How is a tool used that a model asks for? Once, within limits, and kept as it happens.

Whatever is wrong becomes a result that the model reads; nothing it asks for ends the turn. Knows
the tools by their class only.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from oldfriend.domain.errors import OldfriendError
from oldfriend.ledger.tools import Kept
from oldfriend.llm.model import Tool, ToolCall, ToolResult
from oldfriend.prompts.prompt import Prompt
from oldfriend.turn.tools.ability import Ability
from oldfriend.turn.tools.arguments import faults_of
from oldfriend.turn.tools.desk import Desk

LONGEST_RESULT = 500
"""Characters of a result that are kept and read; short ones whole (ACCEPTANCE C5)."""

Ending = Literal[
    "done", "reused", "failed", "too slow", "end not known", "unknown", "bad arguments",
    "repeated", "too many",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """What became of one call."""

    asked: ToolCall
    ending: Ending
    result: str


class Hands:
    """Uses the tools of one turn, one after the other."""

    def __init__(
        self, abilities: Sequence[Ability], desk: Desk, prompt: Prompt, *, most: int, each_s: float
    ) -> None:
        """Know the tools, where calls are kept, how to speak of them, and the limits."""
        self.abilities = {ability.tool.name: ability for ability in abilities}
        self.desk = desk
        self.prompt = prompt
        self.most = most
        self.each_s = each_s
        self.uses: list[Use] = []
        self._left: list[Kept] | None = None  # by earlier runs, not taken up yet; None: not read
        self._number = 0

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools, as a model is told of them."""
        return tuple(ability.tool for ability in self.abilities.values())

    @property
    def are_full(self) -> bool:
        """Whether no more tools may be used in this turn."""
        return len(self.uses) >= self.most

    async def use(self, asked: ToolCall) -> ToolResult:
        """Do what a model asks for, or say why not."""
        use = await self._used(asked)
        self.uses.append(use)
        return ToolResult(id=asked.id, name=asked.name, text=use.result)

    async def _used(self, asked: ToolCall) -> Use:
        """What becomes of a call."""
        if self.are_full:
            return self._told(asked, "too many", "too_many")
        if self.uses and is_same_call(self.uses[-1].asked, asked):
            return self._told(asked, "repeated", "repeated")
        ability = self.abilities.get(asked.name)
        if ability is None:
            return self._told(asked, "unknown", "unknown_tool", names=", ".join(self.abilities))
        if faults := faults_of(asked.arguments, ability.tool.parameters):
            return self._told(asked, "bad arguments", "bad_arguments", faults="; ".join(faults))
        return await self._done_once(asked, ability)

    async def _done_once(self, asked: ToolCall, ability: Ability) -> Use:
        """What an earlier run of this turn has made of the call; else what comes of it now."""
        left = await self._left_by_earlier_runs()
        for kept in left:
            if kept.answers(asked) and kept.result is not None:
                left.remove(kept)
                return Use(asked=asked, ending="reused", result=kept.result)
        if ability.kind == "once":
            for kept in left:
                if kept.name == asked.name:
                    return self._told_of(kept, asked)
        return await self._done_now(asked, ability)

    async def _left_by_earlier_runs(self) -> list[Kept]:
        """The calls of earlier runs that this one has not taken up."""
        if self._left is None:
            self._left = [*await self.desk.list_begun()]
            self._number = 1 + max((kept.number for kept in self._left), default=-1)
        return self._left

    def _told_of(self, kept: Kept, asked: ToolCall) -> Use:
        """That an earlier run began what must not be done twice, perhaps in other words."""
        if kept.answers(asked):
            return self._told(asked, "end not known", "end_not_known")
        arguments = json.dumps(dict(kept.arguments), ensure_ascii=False)
        result = kept.result or self.prompt.render("no_result")
        return self._told(asked, "end not known", "begun_otherwise", text=arguments, result=result)

    async def _done_now(self, asked: ToolCall, ability: Ability) -> Use:
        """What comes of a call that nobody has made yet."""
        number = self._number
        self._number += 1
        if ability.kind == "once":
            await self.desk.begin(number, asked, ability.kind)
        use = await self._tried(asked, ability)
        if use.ending != "end not known":
            await self.desk.finish(number, asked, ability.kind, use.result)
        return use

    async def _tried(self, asked: ToolCall, ability: Ability) -> Use:
        """What comes of using a tool now."""
        try:
            async with asyncio.timeout(self.each_s):
                result = await ability.use(asked.arguments)
        except TimeoutError:
            if ability.kind == "once":
                return self._told(asked, "end not known", "end_not_known")
            return self._told(asked, "too slow", "tool_too_slow")
        except OldfriendError as error:
            return self._told(asked, "failed", "tool_failed", error=str(error))
        return Use(asked=asked, ending="done", result=self._capped(result))

    def _told(self, asked: ToolCall, ending: Ending, part: str, **values: str) -> Use:
        """A call that ends with words of ours."""
        result = self._capped(self.prompt.render(part, **values))
        return Use(asked=asked, ending=ending, result=result)

    def _capped(self, result: str) -> str:
        """A result as it is kept and read."""
        if len(result) <= LONGEST_RESULT:
            return result
        left_out = f"{len(result) - LONGEST_RESULT:,}"
        return self.prompt.render("result_cut", text=result[:LONGEST_RESULT], count=left_out)


def is_same_call(one: ToolCall, other: ToolCall) -> bool:
    """Whether two calls ask for exactly the same."""
    return one.name == other.name and one.arguments == other.arguments
