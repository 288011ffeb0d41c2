"""Whatever an answer stood on, "why do you think that?" has an answer."""

import pytest

from oldfriend.app.accepting import Line, Said
from oldfriend.app.answering import answer
from oldfriend.app.believing.correcting import edit
from oldfriend.app.forming.tending import read, tend
from oldfriend.app.house import House
from oldfriend.memory.beliefs import list_memories
from oldfriend.prompts.phrasebook import phrasebook


@pytest.mark.parametrize(
    ("home", "asked", "why"),
    [
        ("I live in Bath.", "Where do I live?", "Why do you think that?"),
        ("Ich wohne in Bremen.", "Wo wohne ich?", "Warum glaubst du das?"),
    ],
)
async def test_what_the_person_set_themselves_stands_on_no_other_words(
    house: House, line: Line, home: str, asked: str, why: str
) -> None:
    """It is said that they have set it."""
    language = (await answer(house, line, Said(text=home))).reply.language
    for segment in await tend(house, line.person.id, because="asked"):
        await read(house, line.person.id, segment.id)
    async with house.db.reading() as tx:
        (belief,) = [k.memory for k in await list_memories(tx, line.person.id) if k.memory.key]
    text = belief.text.replace("Bath", "Faro").replace("Bremen", "Faro")
    await edit(house, line.person.id, belief.id, text, value="Faro")

    told = (await answer(house, line, Said(text=asked))).reply.text
    explained = (await answer(house, line, Said(text=why))).reply.text

    assert "Faro" in told
    assert explained == phrasebook(language).say["why_by_you"]
