"""A chat whose turns are run by hand: what is said is written, the turn run, its reply written."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from oldfriend.app.accepting import Line, open_line
from oldfriend.app.embedding import embed_missing
from oldfriend.app.house import House
from oldfriend.domain.clock import MINUTE
from oldfriend.domain.ids import TurnId, new_id
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import Message, Spoken
from oldfriend.domain.trust import Role, TrustClass
from oldfriend.llm.model import Request, ToolCall, ToolResult
from oldfriend.llm.scripted import Answer, Scripted, ScriptedModel
from oldfriend.memory.log import Place, write_message
from oldfriend.memory.notes import learn_note
from oldfriend.memory.people import ensure_companion, get_person_by_id
from oldfriend.memory.sessions import session_at
from oldfriend.turn.mind import Mind
from oldfriend.turn.outcome import Outcome, Utterance
from oldfriend.turn.perceive import Hearer
from oldfriend.turn.pipeline import run_turn
from oldfriend.turn.tools.desk import LooseDesk
from tests.clock import FrozenClock


@dataclass(slots=True)
class Talk:
    """A person and a companion in one chat."""

    house: House
    line: Line
    clock: FrozenClock
    said: list[str] = field(default_factory=list)  # what was heard live of the last reply

    async def tell(
        self, text: str, *, minutes: float = 1, role: Role = "person", speaker: str = "Nora",
        trust: TrustClass | None = None, turn: TurnId | None = None, line: Line | None = None,
    ) -> Message:  # fmt: skip
        """Write down what somebody said, some minutes after what came before."""
        now = self.clock.tick(minutes=minutes)
        trusts: dict[Role, TrustClass] = {"person": "person", "companion": "companion"}
        spoken = Spoken(
            role=role, speaker=speaker, text=text, at=now, zone="Europe/Lisbon",
            trust=trust or trusts.get(role, "other"),
        )  # fmt: skip
        line = line or self.line
        async with self.house.db.writing() as tx:
            place = Place(chat=line.chat, session=await session_at(tx, line.chat, now), turn=turn)
            findable = role in {"person", "other"}
            message = await write_message(tx, place, spoken, now=now, findable=findable)
        assert message is not None
        return message

    async def remembers(self, text: str, *, line: Line | None = None, **how: object) -> Message:
        """Put words into the log of another chat long ago, ready to be found by meaning."""
        elsewhere = line or await open_line(self.house, person="Nora", channel="whatsapp")
        message = await self.tell(text, minutes=-60 * 24 * 30, line=elsewhere, **how)
        self.clock.now += 30 * 24 * 60 * MINUTE
        await embed_missing(self.house, self.line.person.id)
        return message

    async def hears(self, *texts: str, trust: TrustClass = "person") -> Utterance:
        """What the companion is to answer: all that was said in one burst."""
        turn = TurnId(new_id(self.clock()))
        messages = [await self.tell(text, turn=turn, trust=trust) for text in texts]
        async with self.house.db.writing() as tx:
            companion = await ensure_companion(tx, now=self.clock())
            person = await get_person_by_id(tx, self.line.person.id)
        return Utterance(
            message=messages[-1], earlier=tuple(messages[:-1]), person=person,
            companion=companion, first_in_chat=False,
            hearer=Hearer(name=companion.name, languages=(person.language, "en")),
        )  # fmt: skip

    def mind(self, *answers: Answer, **changes: object) -> Mind:
        """A mind with a model that answers so, one after another; none: offline."""
        mind = Mind(
            looking=self.house.looking, model=ScriptedModel(answers) if answers else None,
            desk=LooseDesk(), clock=self.clock,
        )  # fmt: skip
        return replace(mind, **changes)

    async def turn(self, said: Utterance, mind: Mind) -> Outcome:
        """Run the turn, and write what it decides."""
        self.said.clear()
        outcome = await run_turn(said, mind, say=self.listen)
        await self.tell(outcome.reply.text, minutes=0, role="companion", speaker="Oldfriend")
        if outcome.trouble is not None:
            await self.tell(outcome.trouble, minutes=0, role="marker", trust="tool")
        async with self.house.db.writing() as tx:
            for note in outcome.notes:
                await learn_note(
                    tx, note.text, source=note.source, author=note.author, now=self.clock()
                )
        return outcome

    async def ask(self, text: str, *answers: Answer) -> tuple[Outcome, Sequence[Request]]:
        """Say something to a model that answers so; the outcome, and what the model was asked."""
        mind = self.mind(*answers)
        assert isinstance(mind.model, ScriptedModel)
        return await self.turn(await self.hears(text), mind), mind.model.asked

    async def listen(self, piece: str) -> None:
        """Hear the reply while it is being written."""
        self.said.append(piece)

    @property
    def heard(self) -> str:
        """All that was heard live of the last reply."""
        return "".join(self.said)


@pytest.fixture
async def talk(house: House, clock: FrozenClock) -> Talk:
    """Nora on the terminal."""
    return Talk(
        house=house, clock=clock, line=await open_line(house, person="Nora", channel="terminal")
    )


def wants(name: str, number: int = 0, /, **arguments: JsonValue) -> Scripted:
    """An answer that asks for a tool."""
    return Scripted(calls=(ToolCall(id=f"call-{number}", name=name, arguments=arguments),))


def results_in(request: Request) -> list[str]:
    """What the tools gave, as the model read it."""
    return [turn.text for turn in request.turns if isinstance(turn, ToolResult)]
