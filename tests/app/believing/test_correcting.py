"""The person's word about what is believed of them: it holds at once, and for good."""

from datetime import UTC, datetime

import pytest

from oldfriend.app.accepting import Line
from oldfriend.app.believing.correcting import changed_on, edit, judge, merge, separate
from oldfriend.app.believing.history import history_of
from oldfriend.app.believing.looking import beliefs_at, find_belief, list_beliefs, list_names
from oldfriend.app.catching_up import read_planned
from oldfriend.app.forming.tending import plan_reading
from oldfriend.app.house import House
from oldfriend.domain.clock import DAY, SECOND
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.ids import MemoryId, ObjectId
from oldfriend.domain.memories import Entity, Known, Memory
from oldfriend.memory.beliefs import get_known
from oldfriend.memory.search.past import held
from oldfriend.memory.segments import list_segments, reopen_segment
from tests.app.believing.life import believed, tell, the_one
from tests.clock import FrozenClock

MONTH = 60 * 24 * 30


async def values(house: House, line: Line, key: str) -> set[tuple[str, str]]:
    """What is or was so, with its state."""
    return {
        (each.what.value, each.what.status)
        for each in await believed(house, line, live=False)
        if isinstance(each.what, Memory) and each.what.key == key
    }


def was_so(known: Known, at: int) -> bool:
    """Whether a belief tells of that moment, as far as is known today."""
    begin, until = held(known)
    so = known.memory.status in {"active", "superseded"}
    return so and begin is not None and begin <= at and (until is None or at < until)


def date_of(at: int) -> str:
    """The day of a moment, as people write it."""
    return datetime.fromtimestamp(at / SECOND, UTC).strftime("%Y-%m-%d")


async def test_another_value_overtakes_the_old_at_once(house: House, line: Line) -> None:
    """Both are kept: what was believed, and what the person says."""
    await tell(house, line)
    home = await the_one(house, line, "Porto")

    await edit(house, line.person.id, home[-8:], "Lives in Faro.")

    assert await values(house, line, "location") == {("Porto", "rejected"), ("Faro", "active")}


async def test_a_correction_says_that_the_old_value_never_was(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """Two clocks: what was believed then stays on record; the new value was so throughout."""
    await tell(house, line)
    told_at = house.clock()
    home = await the_one(house, line, "Porto")
    clock.tick(minutes=40 * 24 * 60)
    new, old = await edit(house, line.person.id, home, "Lives in Faro.")
    async with house.db.reading() as tx:
        then = await beliefs_at(tx, line.person.id, told_at)
        known = [await get_known(tx, line.person.id, MemoryId(each.id)) for each in (new, old)]

    assert {each.what.value for each in then if isinstance(each.what, Memory)} >= {"Porto"}
    assert [was_so(each, told_at) for each in known] == [True, False]


async def test_a_change_says_since_when(house: House, line: Line, clock: FrozenClock) -> None:
    """Until then the old value was so, from then on the new one; not before it began, nor ahead."""
    await tell(house, line)
    home = await the_one(house, line, "Porto")
    clock.tick(minutes=40 * 24 * 60)
    day = changed_on(date_of(house.clock() - 10 * DAY), "UTC")
    for wrong in (house.clock() + DAY, 0):
        with pytest.raises(InvalidInput, match="cannot have changed"):
            await edit(house, line.person.id, home, "Lives in Faro.", since=wrong)
    with pytest.raises(InvalidInput, match="nothing has changed"):
        await edit(house, line.person.id, home, "Has lived in Porto.", since=day)

    new, old = await edit(house, line.person.id, home, "Lives in Faro.", since=day)

    assert isinstance(new, Memory)
    assert isinstance(old, Memory)
    assert (new.holds_from, old.holds_until, old.status) == (day, day, "superseded")


async def test_a_corrected_value_keeps_what_was_before_it(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """Lisbon, then (as it seemed) Porto, in truth Faro: Lisbon was home until Faro was."""
    await tell(house, line)
    home = await the_one(house, line, "Porto")
    clock.tick(minutes=40 * 24 * 60)
    day = house.clock() - 10 * DAY
    lisbon, _ = await edit(house, line.person.id, home, "Lives in Lisbon.", since=day)
    faro, _ = await edit(house, line.person.id, lisbon.id, "Lives in Faro.")

    assert isinstance(faro, Memory)
    assert (faro.holds_from, faro.holds_until) == (day, None)
    assert {("Porto", "superseded"), ("Lisbon", "rejected"), ("Faro", "active")} == await values(
        house, line, "location"
    )
    await judge(house, line.person.id, "reject", faro.id)
    assert ("Lisbon", "active") in await values(house, line, "location")


async def test_another_wording_leaves_the_value(house: House, line: Line) -> None:
    """Nothing is overtaken; it is the person's own now."""
    await tell(house, line)
    home = await the_one(house, line, "Porto")

    (said,) = await edit(house, line.person.id, home, "Has lived in Porto for years.")

    assert isinstance(said, Memory)
    assert (said.id, said.value, said.is_by_person) == (home, "Porto", True)


async def test_what_is_said_right_as_something_else_says_it_joins_that(
    house: House, line: Line
) -> None:
    """It is not believed twice; the words of both speak for it."""
    await tell(house, line, ["My cat is called Miso.", "My cat is called Mizo."])
    miso, mizo = await the_one(house, line, "Miso"), await the_one(house, line, "Mizo")
    said, other = await edit(house, line.person.id, miso, "Cat: Mizo")
    live = [each for each in await believed(house, line) if isinstance(each.what, Memory)]

    assert isinstance(other, Memory)
    assert (said.id, other.id, other.status) == (miso, mizo, "merged")
    assert [each.what.text for each in live if "Cat" in each.what.text] == ["Cat: Mizo"]
    assert len(next(each.words for each in live if each.what.id == miso)) == 2


async def test_what_is_corrected_is_about_whom_it_names_now(house: House, line: Line) -> None:
    """Not about whom it named before; what it overtakes stays as it was."""
    await tell(house, line, ["My sister Ana is a nurse.", "My friend Bea lives in Faro."])
    async with house.db.reading() as tx:
        names = {each.what.name: each.what.id for each in await list_names(tx, line.person.id)}
        told = await list_beliefs(tx, line.person.id)
    about_ana = next(
        each.what
        for each in told
        if isinstance(each.what, Memory) and each.what.entities == (names["Ana"],)
    )
    text = about_ana.text.replace("Ana", "Bea")
    corrected, *_ = await edit(house, line.person.id, about_ana.id, text)

    assert isinstance(corrected, Memory)
    assert corrected.entities == (names["Bea"],)


async def test_a_value_that_does_not_show_is_asked_for(house: House, line: Line) -> None:
    """Nothing is guessed, and nothing written."""
    await tell(house, line)
    home = await the_one(house, line, "Porto")

    with pytest.raises(InvalidInput, match="--value"):
        await edit(house, line.person.id, home, "By the sea now.")
    await edit(house, line.person.id, home, "By the sea now.", value="Faro")

    assert await values(house, line, "location") == {("Porto", "rejected"), ("Faro", "active")}


async def test_what_was_rejected_is_not_learned_again(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """Not from the same words; from new ones it is."""
    await tell(house, line)
    home = await the_one(house, line, "Porto")
    await judge(house, line.person.id, "reject", home)
    async with house.db.reading() as tx:
        (segment,) = await list_segments(tx, line.person.id)
    async with house.db.writing() as tx:
        await plan_reading(tx, await reopen_segment(tx, segment), now=clock())
    await read_planned(house, line.person.id)
    assert await values(house, line, "location") == {("Porto", "rejected")}

    clock.tick(minutes=MONTH)
    await tell(house, line, ["I live in Porto again, since last week."])
    assert ("Porto", "active") in await values(house, line, "location")


async def test_rejecting_what_is_new_brings_back_what_it_overtook(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """The old home holds again."""
    await tell(house, line)
    clock.tick(minutes=MONTH)
    await tell(house, line, ["Big news: I moved to Lisbon last week!"])
    lisbon = [
        each.what.id
        for each in await believed(house, line)
        if isinstance(each.what, Memory) and each.what.value == "Lisbon"
    ]
    await judge(house, line.person.id, "reject", lisbon[0])

    assert await values(house, line, "location") == {("Porto", "active"), ("Lisbon", "rejected")}


async def test_a_rejection_can_be_taken_back(house: House, line: Line) -> None:
    """By confirming."""
    await tell(house, line)
    home = await the_one(house, line, "Porto")
    await judge(house, line.person.id, "reject", home)
    await judge(house, line.person.id, "confirm", home)

    assert await values(house, line, "location") == {("Porto", "active")}


async def test_a_rejection_that_is_undone_leaves_it_as_sure_as_it_was(
    house: House, line: Line
) -> None:
    """It is no confirmation; what the rejection brought back ends once more."""
    await tell(house, line, ["I have a dog."])
    dog = await the_one(house, line, "dog")
    before = await known_as(house, line, dog)
    await judge(house, line.person.id, "reject", dog)
    await judge(house, line.person.id, "unreject", dog)
    back = await known_as(house, line, dog)
    new, _ = await edit(house, line.person.id, dog, "Has two dogs.")
    await judge(house, line.person.id, "reject", new.id)
    await judge(house, line.person.id, "unreject", new.id)

    assert back == before
    assert not back.is_by_person
    assert await values(house, line, "pets") == {("a dog", "rejected"), ("two dogs", "active")}
    with pytest.raises(InvalidInput):
        await judge(house, line.person.id, "unreject", new.id)


async def test_a_correction_is_of_whom_it_names_and_of_no_piece_of_a_word(
    house: House, line: Line
) -> None:
    """There is an "Al" in "also"."""
    await tell(house, line, ["My friend Al is a nurse.", "My sister Ana is a cook.", "I love tea."])
    tea, cook = await the_one(house, line, "tea"), await the_one(house, line, "Ana works")
    (liked,) = await edit(house, line.person.id, tea, "Also loves tea.", value="tea")
    (works,) = await edit(house, line.person.id, cook, "Ana cooks with Al.", value="a cook")
    async with house.db.reading() as tx:
        named = {each.what.name: each.what.id for each in await list_names(tx, line.person.id)
                 if isinstance(each.what, Entity)}  # fmt: skip

    assert isinstance(liked, Memory)
    assert isinstance(works, Memory)
    assert liked.entities == ()
    assert set(works.entities) == {named["Ana"], named["Al"]}


async def test_a_rejection_is_not_taken_back_beside_what_was_learned_since(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """Nobody lives in two places; whoever means it all the same confirms it."""
    await tell(house, line)
    home = await the_one(house, line, "Porto")
    await judge(house, line.person.id, "reject", home)
    clock.tick(minutes=60)
    await tell(house, line, ["I moved to Faro."])

    with pytest.raises(InvalidInput, match="Faro"):
        await judge(house, line.person.id, "unreject", home)
    assert await values(house, line, "location") == {("Porto", "rejected"), ("Faro", "active")}


async def known_as(house: House, line: Line, memory: str) -> Memory:
    """A memory as it is believed now."""
    async with house.db.reading() as tx:
        return (await get_known(tx, line.person.id, MemoryId(ObjectId(memory)))).memory


async def test_a_rejection_taken_back_restores_what_was(house: House, line: Line) -> None:
    """What was brought back has ended as before; its history tells both, and until when."""
    await tell(house, line, ["I have a dog."])
    dog = await the_one(house, line, "dog")
    new, _ = await edit(house, line.person.id, dog, "Has two dogs.")
    before = await values(house, line, "pets")
    await judge(house, line.person.id, "reject", new.id)
    assert {what for what, status in await values(house, line, "pets") if status == "active"} == {
        "a dog"
    }
    await judge(house, line.person.id, "confirm", new.id)
    async with house.db.reading() as tx:
        told = await history_of(tx, line.person.id, dog)

    assert await values(house, line, "pets") == before == {
        ("a dog", "rejected"), ("two dogs", "active"),
    }  # fmt: skip
    own = [(step.change.op, step.until is None) for step in told.steps if step.change.object == dog]
    assert own[-2:] == [("reopened", False), ("superseded", True)]


async def test_a_rejection_taken_back_restores_until_when_the_old_one_was_so(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """Not until the person changed their mind."""
    await tell(house, line)
    home = await the_one(house, line, "Porto")
    clock.tick(minutes=40 * 24 * 60)
    day = house.clock() - 10 * DAY
    faro, old = await edit(house, line.person.id, home, "Lives in Faro.", since=day)
    await judge(house, line.person.id, "reject", faro.id)
    clock.tick(minutes=60)
    await judge(house, line.person.id, "confirm", faro.id)
    async with house.db.reading() as tx:
        now = (await get_known(tx, line.person.id, MemoryId(ObjectId(home)))).memory

    assert now == old


async def test_the_old_value_gives_way_where_only_the_sentence_is_changed(
    house: House, line: Line
) -> None:
    """A form sends the old value along; a full stop may be left out."""
    await tell(house, line)
    home = await the_one(house, line, "Porto")
    await edit(house, line.person.id, home, "Lives in Faro", value="Porto")

    assert await values(house, line, "location") == {("Porto", "rejected"), ("Faro", "active")}


async def test_pinned_things_are_marked_until_they_are_unpinned(house: House, line: Line) -> None:
    """Memories and names alike."""
    await tell(house, line)
    for each in (await the_one(house, line, "Porto"), (await the_names(house, line))["Ana"]):
        (pinned,) = await judge(house, line.person.id, "pin", each)
        (unpinned,) = await judge(house, line.person.id, "unpin", each)
        assert (pinned.is_pinned, unpinned.is_pinned) == (True, False)


async def the_names(house: House, line: Line) -> dict[str, str]:
    """The ids of entities, by name."""
    async with house.db.reading() as tx:
        told = await list_names(tx, line.person.id, live=False)
    return {each.what.name: each.what.id for each in told if isinstance(each.what, Entity)}


async def test_two_names_of_one_are_merged_and_kept_apart_again(house: House, line: Line) -> None:
    """The second becomes another name of the first, and itself again."""
    await tell(house, line, ["My sister Ana called.", "My friend Marta is a doctor."])
    names = await the_names(house, line)
    kept, gone = await merge(house, line.person.id, names["Ana"], names["Marta"])
    assert isinstance(kept, Entity)
    assert isinstance(gone, Entity)
    assert (kept.aliases, gone.status, gone.same_as) == (("Marta",), "merged", kept.id)

    kept, gone = await separate(house, line.person.id, names["Ana"], names["Marta"])
    assert isinstance(kept, Entity)
    assert isinstance(gone, Entity)
    assert (kept.aliases, gone.status, gone.ended_at) == ((), "separate", None)
    await believed(house, line)


async def test_two_memories_that_say_the_same_stand_on_the_words_of_both(
    house: House, line: Line
) -> None:
    """And each on its own again, when they are kept apart."""
    await tell(house, line, ["I love jazz.", "I love bebop."])
    jazz, bebop = [await the_one(house, line, word) for word in ("jazz", "bebop")]
    await merge(house, line.person.id, jazz, bebop)
    (left,) = [each for each in await believed(house, line) if each.what.id in {jazz, bebop}]
    assert (left.what.id, len(left.words)) == (jazz, 2)

    await separate(house, line.person.id, jazz, bebop)
    quotes = {
        each.what.id: [words.quote for words in each.words]
        for each in await believed(house, line)
        if each.what.id in {jazz, bebop}
    }
    assert "jazz" in quotes[jazz][0]
    assert "bebop" in quotes[bebop][0]
    assert len(quotes[jazz]) == len(quotes[bebop]) == 1


async def test_a_name_that_is_nobody_is_not_learned_again(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """However often it is said."""
    await tell(house, line, ["My friend Marta is a doctor."])
    await judge(house, line.person.id, "reject", (await the_names(house, line))["Marta"])
    clock.tick(minutes=MONTH)
    await tell(house, line, ["My friend Marta came by."])

    async with house.db.reading() as tx:
        assert await list_names(tx, line.person.id) == []


async def test_a_description_by_the_person_stays(house: House, line: Line) -> None:
    """And is shown with the name."""
    await tell(house, line)
    ana = (await the_names(house, line))["Ana"]
    await edit(house, line.person.id, ana, "My younger sister, in Braga.")

    async with house.db.reading() as tx:
        found = (await find_belief(tx, line.person.id, ana[-8:])).what
    assert isinstance(found, Entity)
    assert (found.description, found.is_by_person) == ("My younger sister, in Braga.", True)


async def test_what_makes_no_sense_is_refused(house: House, line: Line) -> None:
    """With what to do instead; nothing is written."""
    await tell(house, line)
    ana, home = (await the_names(house, line))["Ana"], await the_one(house, line, "Porto")
    person = line.person.id
    with pytest.raises(InvalidInput, match="not one of each"):
        await merge(house, person, ana, home)
    with pytest.raises(InvalidInput, match="one and the same"):
        await merge(house, person, home, home[-8:])
    with pytest.raises(InvalidInput, match="characters"):
        await edit(house, person, home, "  ")
    with pytest.raises(NotFound):
        await judge(house, person, "pin", "ffffffff")
    await judge(house, person, "reject", home)
    with pytest.raises(InvalidInput, match="not believed any more"):
        await judge(house, person, "pin", home)
