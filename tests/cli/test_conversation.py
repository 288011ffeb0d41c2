"""Nothing is shown twice, and nothing is left out."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace

import pytest

from oldfriend.app.accepting import Line, Said, accept, open_line
from oldfriend.app.choices.settings import Settings
from oldfriend.app.house import House
from oldfriend.app.meanwhile import TalkPlace
from oldfriend.app.wiring import open_house
from oldfriend.cli.conversation import Conversation
from oldfriend.domain.errors import StoreBusy
from oldfriend.domain.messages import Spoken
from oldfriend.llm.embedding import Embedder, Vectors
from oldfriend.llm.scripted import Scripted, ScriptedModel
from oldfriend.memory.log import Place, write_message
from oldfriend.memory.sessions import session_at
from tests.app.test_lanes_of_turns import with_model


@dataclass
class Interrupting:
    """An embedder during whose work somebody speaks elsewhere, once."""

    embedder: Embedder
    elsewhere: House
    line: Line
    has_spoken: bool = False

    @property
    def model(self) -> str:
        """As it is."""
        return self.embedder.model

    @property
    def dimension(self) -> int:
        """As it is."""
        return self.embedder.dimension

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Let somebody speak first."""
        if not self.has_spoken:
            self.has_spoken = True
            words = Said(text="I sold the boat yesterday.")
            await accept(self.elsewhere, self.line, words, to_answer=True)
        return await self.embedder.embed(texts)


@pytest.fixture
async def elsewhere(settings: Settings, house: House) -> AsyncIterator[House]:
    """The same store, as another process has it."""
    async with open_house(settings, clock=house.clock) as opened:
        yield opened


async def test_what_is_said_elsewhere_while_an_answer_is_made_appears(
    house: House, elsewhere: House
) -> None:
    """It lies between the person's words and the reply."""
    line = await open_line(house, person=None, channel="terminal")
    shown: list[str] = []

    async def speak(text: str) -> None:
        if text != "\n":
            shown.append(text)

    embedder = Interrupting(house.embedder, elsewhere, line)
    talk = Conversation(TalkPlace(replace(house, embedder=embedder), line), shown.append, speak)
    await talk.begin()
    await talk.hear("Where is the boat that we bought?")
    before = len(shown)
    for _ in range(2):
        await talk.show_what_others_wrote()

    assert embedder.has_spoken
    assert before == 1
    assert shown[1] == "you: I sold the boat yesterday."
    assert len(shown) == 2


async def test_markers_are_not_shown_as_somebodys_words(house: House) -> None:
    """That there was no answer is what the reply itself says."""
    line = await open_line(house, person=None, channel="terminal")
    async with house.db.writing() as tx:
        place = Place(chat=line.chat, session=await session_at(tx, line.chat, house.clock()))
        for role, text in (("person", "How are you?"), ("marker", "unavailable")):
            spoken = Spoken(role=role, speaker="x", text=text, at=house.clock(), trust="tool")
            await write_message(tx, place, spoken, now=house.clock(), findable=False)
    shown: list[str] = []

    async def speak(text: str) -> None:
        shown.append(text)

    talk = Conversation(TalkPlace(house, line), shown.append, speak)
    await talk.begin()
    await talk.show_history()
    await Conversation(TalkPlace(house, line), shown.append, speak).show_what_others_wrote()

    assert shown == ["you: How are you?"] * 3


async def test_what_fails_is_said_and_the_talk_goes_on(house: House) -> None:
    """The words that could not be kept are shown, to be said again."""
    line = await open_line(house, person=None, channel="terminal")
    shown: list[str] = []

    async def speak(text: str) -> None:
        raise StoreBusy("Another program is writing.")

    talk = Conversation(TalkPlace(house, line), shown.append, speak)

    assert await talk.hear("hello there")
    assert talk.has_failed
    assert shown == ["That did not work. Another program is writing.\nYou wrote: hello there"]
    assert not await talk.hear("/quit")


async def test_a_reply_can_be_stopped_and_the_talk_goes_on(house: House) -> None:
    """That it was is remarked, in the language of the talk; it is no failure."""
    line = await open_line(house, person=None, channel="terminal")
    model = ScriptedModel([Scripted(text="Once upon a time", delay_s=60), "As you like."])
    shown: list[str] = []
    remarks: list[str] = []

    async def speak(text: str) -> None:
        shown.append(text)

    talk = Conversation(
        TalkPlace(with_model(house, model), line), shown.append, speak, remark=remarks.append
    )
    await talk.stop_reply()
    async with asyncio.TaskGroup() as tasks:
        hearing = tasks.create_task(talk.hear("Erzähl mir bitte eine Geschichte von früher."))
        await asyncio.sleep(0.3)
        await talk.stop_reply()

    assert hearing.result()
    assert remarks == ["(Abgebrochen.)"]
    assert not talk.has_failed
    assert await talk.hear("Then not.")
    assert "".join(shown).strip() == "As you like."
