"""What is taken back goes alone: what it had overtaken holds again, unless something else does."""

from dataclasses import replace

from oldfriend.app.accepting import Line, Said, edit
from oldfriend.app.answering import answer
from oldfriend.app.believing.correcting import judge
from oldfriend.app.believing.undoing import undo_reading
from oldfriend.app.catching_up import catch_up
from oldfriend.app.forgetting import forget
from oldfriend.app.forming.means import means_for
from oldfriend.app.forming.rereading import what_rules_read
from oldfriend.app.forming.tending import read, tend
from oldfriend.app.house import House
from oldfriend.background.consolidating import consolidate
from oldfriend.background.extraction import Claim, Extraction, Material, Named, Quote
from oldfriend.domain.clock import DAY
from oldfriend.domain.memories import Memory
from oldfriend.memory.beliefs import list_entities
from oldfriend.memory.forgetting.choosing import Wish
from oldfriend.memory.log import list_messages
from oldfriend.memory.segments import Segment, list_segments, reopen_segment
from tests.app.believing.life import believed, tell, the_one
from tests.clock import FrozenClock

MONTH = 60 * 24 * 30


async def homes(house: House, line: Line) -> dict[str, str]:
    """Where somebody lives, or did; "-" where that was never so."""
    return {
        each.what.value: each.what.status
        if each.what.status != "active" or each.what.ended_at is None
        else "-"
        for each in await believed(house, line, live=False)
        if isinstance(each.what, Memory) and each.what.key == "location"
    }


async def moves(house: House, line: Line, clock: FrozenClock, *places: str) -> None:
    """Somebody lives here, then there, a month each."""
    for place in places:
        await tell(house, line, [f"I live in {place}."])
        clock.tick(minutes=MONTH)


async def segments(house: House, line: Line) -> list[Segment]:
    """What was read, in order."""
    async with house.db.reading() as tx:
        return await list_segments(tx, line.person.id)


async def undo(house: House, line: Line, number: int) -> None:
    """Take back one reading."""
    await undo_reading(house, line.person.id, (await segments(house, line))[number].id)


async def id_of(house: House, line: Line, words: str) -> str:
    """The message of the person in which these words stand."""
    async with house.db.reading() as tx:
        said = await list_messages(tx, line.person.id)
    return next(each.id for each in said if words in each.text and each.role == "person")


async def test_undoing_a_reading_in_the_middle_closes_the_gap(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """The value before it was so until the next one began, and is never one of two that hold."""
    await moves(house, line, clock, "Lisbon", "Porto", "Braga")
    await undo(house, line, 1)

    assert await homes(house, line) == {"Lisbon": "superseded", "Porto": "-", "Braga": "active"}
    times = {
        each.what.value: (each.what.holds_from, each.what.holds_until)
        for each in await believed(house, line, live=False)
        if isinstance(each.what, Memory) and each.what.key == "location"
    }
    assert times["Lisbon"][1] == times["Braga"][0]


async def test_undoing_the_last_one_after_that_brings_back_the_first(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """Whatever stood between them."""
    await moves(house, line, clock, "Lisbon", "Porto", "Braga")
    await undo(house, line, 1)
    await undo(house, line, 2)

    assert await homes(house, line) == {"Lisbon": "active", "Porto": "-", "Braga": "-"}


async def test_undoing_the_last_first_brings_back_one_by_one(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """Each as it was before."""
    await moves(house, line, clock, "Lisbon", "Porto", "Braga")
    await undo(house, line, 2)
    assert await homes(house, line) == {"Lisbon": "superseded", "Porto": "active", "Braga": "-"}
    await undo(house, line, 1)
    assert await homes(house, line) == {"Lisbon": "active", "Porto": "-", "Braga": "-"}


async def test_undoing_words_from_long_ago_brings_back_nothing_that_is_over(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """They had only told since when the home before was one; which stays the home before."""
    long_ago = clock.now - 20 * 365 * DAY
    await moves(house, line, clock, "Lisbon", "Porto")
    await answer(house, line, Said(text="I live in Braga.", at=long_ago))
    await catch_up(house, line.person.id, because="asked")
    assert (await homes(house, line))["Braga"] == "superseded"
    await undo(house, line, 0)

    assert await homes(house, line) == {"Lisbon": "superseded", "Porto": "active", "Braga": "-"}
    await undo(house, line, 2)

    assert await homes(house, line) == {"Lisbon": "active", "Porto": "-", "Braga": "-"}


async def test_what_was_rejected_and_confirmed_holds_alone(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """What had come back in its place gives way to it, and comes back when it goes again."""
    await moves(house, line, clock, "Lisbon", "Porto")
    porto = await the_one(house, line, "Porto")
    await judge(house, line.person.id, "reject", porto)
    await judge(house, line.person.id, "confirm", porto)
    assert await homes(house, line) == {"Lisbon": "superseded", "Porto": "active"}
    await judge(house, line.person.id, "reject", porto)
    assert await homes(house, line) == {"Lisbon": "active", "Porto": "rejected"}


async def test_what_several_may_hold_of_comes_back_beside_others(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """One who likes chess may like coffee again."""
    for text in ("I love coffee.", "I can't stand coffee.", "I love chess."):
        await tell(house, line, [text])
        clock.tick(minutes=MONTH)
    await undo(house, line, 1)

    liked = {
        each.what.value
        for each in await believed(house, line)
        if isinstance(each.what, Memory) and each.what.key == "interests"
    }
    assert liked == {"coffee", "chess"}


def claim(material: Material, text: str, words: str, **fields: object) -> Claim:
    """Something read out of the message in which these words stand."""
    (said,) = [each for each in material.messages if words in each.text and each.role == "person"]
    quotes = (Quote(message=said.id, text=words),)
    return Claim(text=text, quotes=quotes, **fields)


async def read_as(house: House, line: Line, text: str, **fields: object) -> Segment:
    """Say something, and have a model read one thing in it, with whoever is named."""
    await answer(house, line, Said(text=text))
    (segment,) = await tend(house, line.person.id, because="asked")
    aliases = fields.pop("aliases", ())

    async def by_model(material: Material) -> Extraction:
        told = claim(material, str(fields.pop("told")), str(fields.pop("words")), **fields)
        named = Named(name="Robert", kind="person", quotes=told.quotes, aliases=aliases)
        is_named = "Robert" in text
        return Extraction(author="extract/2", claims=(told,), names=(named,) if is_named else ())

    means = await means_for(house, segment)
    await consolidate(replace(means, read=by_model, read_small_talk=by_model), segment)
    return segment


async def test_what_a_reading_had_revised_is_as_it_was_before(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """How strongly something was felt, when it is due, and by which names somebody goes."""
    promise = "Promised Robert to paint his fence."
    words = "I will paint his fence"
    await read_as(
        house, line, f"Robert came by today. {words}, I promised.", told=promise, words=words,
        kind="commitment", due_at=clock.now + 5 * DAY,
    )  # fmt: skip
    due = clock.now + 5 * DAY
    clock.tick(minutes=60 * 24)
    later = await read_as(
        house, line, f"Robert, whom they call Bozo, came again. {words} in summer.", told=promise,
        words=words, kind="commitment", due_at=clock.now + 40 * DAY, aliases=("Bozo",),
    )  # fmt: skip
    async with house.db.reading() as tx:
        (robert,) = await list_entities(tx, line.person.id)
    assert robert.aliases == ("Bozo",)
    await undo_reading(house, line.person.id, later.id)

    (kept,) = [each.what for each in await believed(house, line) if isinstance(each.what, Memory)]
    assert kept.due_at == due
    async with house.db.reading() as tx:
        (robert,) = await list_entities(tx, line.person.id)
    assert robert.aliases == ()


async def test_earlier_words_do_not_overrule_what_the_person_confirmed(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """Though they are read later; words of afterwards do."""
    await tell(house, line, ["I live in Porto."])
    clock.tick(minutes=600)
    await answer(house, line, Said(text="I live in Lisbon."))
    clock.tick(minutes=1)
    await judge(house, line.person.id, "confirm", await the_one(house, line, "Porto"))
    clock.tick(minutes=60)
    await tell(house, line, [])
    assert await homes(house, line) == {"Porto": "active", "Lisbon": "superseded"}

    await tell(house, line, ["I live in Braga."])
    assert (await homes(house, line))["Braga"] == "active"


async def test_no_sign_makes_doubtful_what_the_person_confirmed(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """However often there is one."""
    habit, words = "Goes running by the river often.", "I go running by the river"
    await read_as(
        house, line, f"{words} every morning before work.", told=habit, words=words,
        kind="pattern", pattern="behavior",
    )  # fmt: skip
    (one,) = [each.what for each in await believed(house, line) if isinstance(each.what, Memory)]
    await judge(house, line.person.id, "confirm", one.id)
    for day in ("Monday", "Tuesday", "Friday"):
        clock.tick(minutes=60 * 24)
        sign = f"On {day} I took the tram by the river"
        await read_as(
            house, line, f"{sign}, it was raining all day long.", told=habit, words=sign,
            kind="pattern", pattern="behavior", bearing="contradicts", target=one.id,
            signal="implicit", confidence=0.65,
        )  # fmt: skip

    (still,) = [each for each in await believed(house, line) if each.what.id == one.id]
    assert isinstance(still.what, Memory)
    assert (still.what.status, len(still.words)) == ("active", 1)


async def test_what_was_taken_back_is_not_read_again_by_itself(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """Not when something in it is forgotten, nor by a model; when something is edited, it is."""
    await tell(house, line, ["I live in Porto.", "I love jazz.", "The milk is in the fridge now."])
    await undo_reading(house, line.person.id, None)
    assert (await what_rules_read(house, line.person.id)).segments == ()
    (segment,) = await segments(house, line)
    assert await read(house, line.person.id, segment.id, by="model") is None

    await forget(house, line.person.id, Wish(ids=(await id_of(house, line, "milk"),)))
    await tell(house, line, [])
    assert await homes(house, line) == {"Porto": "-"}
    assert [each.status for each in await segments(house, line)] == ["taken back"]

    await edit(house, line, await id_of(house, line, "Porto"), "I live in Faro.")
    await tell(house, line, [])
    assert (await homes(house, line))["Faro"] == "active"


async def test_forgetting_brings_back_what_it_had_overtaken(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """The newest goes: the one before holds again."""
    await moves(house, line, clock, "Lisbon", "Porto")
    await forget(house, line.person.id, Wish(ids=(await id_of(house, line, "Porto"),)))
    await tell(house, line, [])

    assert await homes(house, line) == {"Lisbon": "active"}


async def test_forgetting_in_the_middle_closes_the_gap(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """One holds, and when that is forgotten, too, the first does."""
    await moves(house, line, clock, "Lisbon", "Porto", "Braga")
    await forget(house, line.person.id, Wish(ids=(await id_of(house, line, "Porto"),)))
    await tell(house, line, [])
    assert await homes(house, line) == {"Lisbon": "superseded", "Braga": "active"}

    await forget(house, line.person.id, Wish(ids=(await id_of(house, line, "Braga"),)))
    await tell(house, line, [])
    assert await homes(house, line) == {"Lisbon": "active"}


async def test_an_edit_brings_back_what_the_words_had_overtaken(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """Whatever is said there instead."""
    await moves(house, line, clock, "Lisbon", "Porto")
    said = await id_of(house, line, "Porto")
    await edit(house, line, said, "I had a lovely walk today.")
    await tell(house, line, [])
    assert await homes(house, line) == {"Lisbon": "active", "Porto": "-"}

    clock.tick(minutes=1)
    await edit(house, line, said, "I live in Faro.")
    await tell(house, line, [])
    assert await homes(house, line) == {"Lisbon": "superseded", "Porto": "-", "Faro": "active"}


async def test_reading_anew_without_an_edit_brings_nothing_back(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """What overtook it still stands."""
    await moves(house, line, clock, "Lisbon", "Porto", "Braga")
    for segment in await segments(house, line):
        async with house.db.writing() as tx:
            again = await reopen_segment(tx, segment)
        await read(house, line.person.id, again.id)
        assert await homes(house, line) == {
            "Lisbon": "superseded", "Porto": "superseded", "Braga": "active",
        }  # fmt: skip
