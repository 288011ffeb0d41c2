"""Vectors that are missing are made up for, a little at a time, by whoever comes next."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from oldfriend.app import embedding
from oldfriend.app.accepting import Line, Said, accept, stop
from oldfriend.app.answering import work_on
from oldfriend.app.believing.correcting import edit
from oldfriend.app.embedding import embed_beliefs, embed_missing, make_up
from oldfriend.app.house import House
from oldfriend.app.jobs import do_jobs, plan_jobs
from oldfriend.app.working import claim_next
from oldfriend.domain.errors import EmbeddingFailed
from oldfriend.llm.embedding import Vectors
from oldfriend.memory.meanings import list_meaningless
from oldfriend.memory.vectors import count_findable
from tests.app.believing.life import tell, the_one
from tests.app.conftest import Say


@dataclass
class CountingEmbedder:
    """An embedder that counts what it was given, and gives up after so many calls."""

    calls: int = 1000
    given: list[str] = field(default_factory=list)
    model = "counting"
    dimension = 384

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """A vector for each."""
        if not self.calls:
            raise EmbeddingFailed("tired")
        self.calls -= 1
        self.given += texts
        return np.full((len(texts), 384), 0.05, dtype=np.float32)


async def test_each_message_is_embedded_once_and_with_who_said_it(
    house: House, line: Line, say: Say
) -> None:
    """The companion's own words are not."""
    for number in range(3):
        await say(f"This is message number {number}.")
    embedder = CountingEmbedder()
    counting = replace(house, embedder=embedder)

    assert await embed_missing(counting, line.person.id) == 3
    assert await embed_missing(counting, line.person.id) == 0
    assert embedder.given == [f"owner: This is message number {number}." for number in range(3)]


async def test_what_was_done_before_a_failure_stays_and_the_next_goes_on(
    house: House, line: Line, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that dies loses at most one batch."""
    monkeypatch.setattr(embedding, "BATCH", 2)
    for number in range(5):
        await say(f"This is message number {number}.")
    seen: list[int] = []
    with pytest.raises(EmbeddingFailed):
        await embed_missing(
            replace(house, embedder=CountingEmbedder(calls=2)), line.person.id,
            progress=seen.append,
        )  # fmt: skip
    embedder = CountingEmbedder()
    rest = await embed_missing(replace(house, embedder=embedder), line.person.id)

    assert seen == [2, 4]
    assert rest == len(embedder.given) == 1


async def test_no_more_are_made_than_asked_for(house: House, line: Line, say: Say) -> None:
    """One call of the command line makes up for some, not for a million."""
    for number in range(5):
        await say(f"This is message number {number}.")

    counting = replace(house, embedder=CountingEmbedder())
    assert await embed_missing(counting, line.person.id, most=3) == 3
    async with house.db.reading() as tx:
        assert await count_findable(tx, line.person.id, "counting") == (5, 3)


async def test_making_up_never_fails_what_was_kept(house: House, line: Line, say: Say) -> None:
    """It says what is wrong, as a sentence to show."""
    await say("My cat is called Miso.")

    tired = await make_up(replace(house, embedder=CountingEmbedder(calls=0)), line.person.id)
    assert tired == "Searching by words for now: tired"
    assert await make_up(replace(house, embedder=CountingEmbedder()), line.person.id) is None


async def test_words_that_are_corrected_while_they_are_embedded_are_embedded_anew(
    house: House, line: Line
) -> None:
    """The vector of the old words never stands for the new ones."""
    await tell(house, line, ["I live in Porto."])
    home = await the_one(house, line, "Porto")
    given: list[str] = []

    class Interrupted(CountingEmbedder):
        async def embed(self, texts: Sequence[str]) -> Vectors:
            """Have the belief corrected meanwhile, once."""
            if any("Porto" in each for each in texts) and not given:
                await edit(house, line.person.id, home, "Lives in Porto, by the river.")
            given.extend(texts)
            return await super().embed(texts)

    await embed_beliefs(replace(house, embedder=Interrupted()), line.person.id)

    assert given == ["Lives in Porto.", "Lives in Porto, by the river."]
    async with house.db.reading() as tx:
        assert not await list_meaningless(tx, line.person.id, "counting", limit=5)


async def test_a_start_leaves_what_waits_for_its_answer_to_the_turn(
    house: House, line: Line, say: Say
) -> None:
    """Else both would embed it; what was answered without a vector is made up for."""
    await say("I have bought a boat.")
    await accept(house, line, Said(text="It is a red one."), to_answer=False)
    embedder = CountingEmbedder()

    await start(replace(house, embedder=embedder))
    assert embedder.given == ["owner: I have bought a boat."]


async def test_what_no_turn_answers_any_more_is_embedded_all_the_same(
    house: House, line: Line
) -> None:
    """The person has said stop before anybody began."""
    accepted = await accept(house, line, Said(text="It is a red one."), to_answer=False)
    assert accepted is not None
    embedder = CountingEmbedder()
    await start(replace(house, embedder=embedder))
    await stop(house, line, accepted.message.id)

    await work_off_agenda(replace(house, embedder=embedder))
    assert embedder.given == ["owner: It is a red one."]


async def start(house: House) -> None:
    """Do what a start plans."""
    await plan_jobs(house)
    await work_off_agenda(house)


async def work_off_agenda(house: House) -> None:
    """Do all jobs that are due."""
    while (claim := await claim_next(house, "agenda")) is not None:
        await do_jobs(house, claim, asyncio.Event())


async def test_what_a_turn_leaves_without_a_vector_while_others_are_embedded_gets_one(
    house: House, line: Line, say: Say
) -> None:
    """Whoever is at it has passed it over, for then its turn was to embed it."""
    await say("I have bought a boat.")
    await accept(house, line, Said(text="It is a red one."), to_answer=False)

    @dataclass
    class Meanwhile(CountingEmbedder):
        """One that fails for the turn that is answered while it is at something else."""

        was_answered: bool = False

        async def embed(self, texts: Sequence[str]) -> Vectors:
            if not self.was_answered:
                self.was_answered = True
                failing = replace(house, embedder=CountingEmbedder(calls=0))
                claim = await claim_next(failing, "inbox")
                assert claim is not None
                await work_on(failing, claim)
            return await super().embed(texts)

    embedder = Meanwhile()
    await start(replace(house, embedder=embedder))
    assert embedder.given == ["owner: I have bought a boat.", "owner: It is a red one."]
