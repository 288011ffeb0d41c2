"""Pydantic AI capability: gives an agent what is known, a search, and what was said to learn."""

from dataclasses import dataclass
from typing import Any, Final

from pydantic_ai import AgentRunResult, FunctionToolset, RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.toolsets import AgentToolset
from typing_extensions import override

from oldfriend.prompts.prompt import get_prompt
from oldfriend.sdk.memory import Memory

PROMPT: Final = "adapters/1"
MAX_FOUND: Final = 20


@dataclass
class OldfriendMemory(AbstractCapability[Any]):
    """An agent with this memory: ``Agent(model, capabilities=[OldfriendMemory(memory)])``.

    ``memory`` is opened by ``async with``. What the person writes is kept as theirs and learned
    from, what the agent answers as the companion's.
    """

    memory: Memory
    budget: int = 1000  # tokens of what is known in the instructions
    session: str | None = None  # the conversation that messages belong to

    @override
    def get_instructions(self) -> Any:
        """Tell the model what is known that bears on the prompt."""

        async def instruct(ctx: RunContext[Any]) -> str | None:
            records = await self.memory.context(read_prompt(ctx), self.budget)
            return get_prompt(PROMPT).render("records", records=records) if records else None

        return instruct

    @override
    def get_toolset(self) -> AgentToolset[Any]:
        """Let the model search the memory."""

        async def recall(query: str) -> list[str]:
            hits = await self.memory.recall(query, MAX_FOUND)
            return [f"{each.at:%Y-%m-%d} {each.kind}: {each.text}" for each in hits]

        toolset = FunctionToolset[Any](id="oldfriend")
        toolset.add_function(recall, name="recall", description=get_prompt(PROMPT).render("recall"))
        return toolset

    @override
    async def after_run(
        self, ctx: RunContext[Any], *, result: AgentRunResult[Any]
    ) -> AgentRunResult[Any]:
        """Keep what was said and answered."""
        said = [("user", read_prompt(ctx)), ("assistant", str(result.output))]
        await self.memory.add(
            [
                {"role": role, "content": text, "session": self.session}
                for role, text in said
                if text.strip()
            ]
        )
        return result


def read_prompt(ctx: RunContext[Any]) -> str:
    """Return the text of what the person asked; empty if there is none."""
    prompt = ctx.prompt
    if prompt is None or isinstance(prompt, str):
        return prompt or ""
    return "\n".join(each for each in prompt if isinstance(each, str))
