"""What does the companion do before and while it answers? It asks the model, and uses tools.

The model asks for tools until it answers in words; calls and results always come in pairs. What
it asks for counts only when it stands in its own output of this turn.
"""

from dataclasses import dataclass, field, replace

from oldfriend.domain.errors import BrokenOutput, ModelError
from oldfriend.domain.sayings import saying
from oldfriend.llm.model import Completion, Model, Request
from oldfriend.prompts.prompt import Prompt, reply_prompt
from oldfriend.turn.briefing import Briefing, brief
from oldfriend.turn.mind import Mind
from oldfriend.turn.mouth import Mouth
from oldfriend.turn.outcome import Utterance
from oldfriend.turn.perceive import Perception
from oldfriend.turn.sight import Sight
from oldfriend.turn.tools.current_time import current_time
from oldfriend.turn.tools.hands import Hands, Use
from oldfriend.turn.tools.note import note
from oldfriend.turn.trouble import Trouble, trouble_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Actions:
    """What was done for a reply, and why it was not done with a model."""

    briefing: Briefing | None = None
    completions: tuple[Completion, ...] = ()
    uses: tuple[Use, ...] = ()
    trouble: Trouble | None = None
    error: str = ""


@dataclass(slots=True)
class Exchange:
    """One conversation with the model, until it has answered in words or failed."""

    model: Model
    hands: Hands
    mouth: Mouth
    completions: list[Completion] = field(default_factory=list)

    async def run(self, request: Request) -> None:
        """Ask, do what is asked for, and ask again.

        Raises what the model raises, and BrokenOutput where it ends without a word.
        """
        while True:
            said_before = len(self.mouth.text)
            completion = await self._ask(replace(request, may_call=not self.hands.are_full))
            if self.hands.are_full or not completion.calls or completion.is_cut:
                break
            results = [await self.hands.use(call) for call in completion.calls]
            request = replace(request, turns=(*request.turns, completion.turn, *results))
        if len(self.mouth.text) == said_before:
            model = completion.model
            told = f"{model} ended its turn without a word."
            raise BrokenOutput(saying("answer_empty", told, model=model))

    async def _ask(self, request: Request) -> Completion:
        """Ask once; what the model says is said on."""
        say = self.mouth.say if self.mouth.listener is not None else None
        completion = await self.model.complete(request, say)
        self.completions.append(completion)
        await self.mouth.end(completion.text, is_cut=completion.is_cut)
        return completion


async def act(
    said: Utterance, perception: Perception, sight: Sight, mind: Mind, mouth: Mouth
) -> Actions:
    """Have the model answer, with its tools. A model that fails is trouble, not an error."""
    if mind.model is None:
        return Actions()
    if mind.resting is not None:
        return Actions(trouble="resting", error=mind.resting)
    prompt = reply_prompt()
    hands = hands_for(said, perception, mind, prompt)
    briefing = brief(
        said, sight, prompt, noted=perception.note, tools=hands.tools, budget=mind.limits.budget
    )
    exchange = Exchange(model=mind.model, hands=hands, mouth=mouth)
    trouble: Trouble | None = None
    error = ""
    try:
        await exchange.run(briefing.request)
    except ModelError as failure:
        trouble, error = trouble_of(failure), str(failure)
        await mouth.end()
    return Actions(
        briefing=briefing, completions=tuple(exchange.completions), uses=tuple(hands.uses),
        trouble=trouble, error=error,
    )  # fmt: skip


def hands_for(said: Utterance, perception: Perception, mind: Mind, prompt: Prompt) -> Hands:
    """The tools of this turn, ready to be used."""
    abilities = [
        current_time(prompt, mind.clock, zone=said.message.zone),
        note(prompt, said, noted=perception.note),
    ]
    limits = mind.limits
    return Hands(abilities, mind.desk, prompt, most=limits.tool_calls, each_s=limits.tool_s)
