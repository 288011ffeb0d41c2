"""Who and what is tied to whom is known, overtaken, taken back, walked along: in the house."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from oldfriend.app.accepting import Line, Said
from oldfriend.app.answering import answer
from oldfriend.app.believing.correcting import edit, judge, merge
from oldfriend.app.forgetting import forget
from oldfriend.app.forming.means import means_for
from oldfriend.app.forming.tending import tend, tidy
from oldfriend.app.house import House
from oldfriend.background.consolidating import Consolidated, consolidate
from oldfriend.background.extraction import Claim, Extraction, Material, Named, Quote, Tied
from oldfriend.domain.clock import DAY, from_micros, parse_moment
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.memories import Known, Tie
from oldfriend.domain.messages import Message
from oldfriend.memory.beliefs import list_entities, list_memories
from oldfriend.memory.changes import check_fold, rebuild
from oldfriend.memory.forgetting.choosing import Wish
from oldfriend.memory.search import Question
from oldfriend.memory.segments import list_segments
from oldfriend.memory.withdrawing import undo_consolidation
from tests.app.conftest import Say
from tests.app.forming.test_forming import believed, told
from tests.clock import FrozenClock

WEEK = 60 * 24 * 7
Reads = Callable[[Message], Extraction]

pytestmark = pytest.mark.usefixtures("settings_folder")


async def read_as(house: House, line: Line, said: str, reads: Reads) -> Consolidated:
    """Say something, and have it read as somebody reads it."""
    await answer(house, line, Said(text=said))
    (segment,) = await tend(house, line.person.id, because="asked")

    async def read(material: Material) -> Extraction:
        return reads(next(each for each in material.messages if each.role == "person"))

    means = await means_for(house, segment)
    done = await consolidate(replace(means, read=read, read_small_talk=read), segment)
    assert done is not None
    return done


def tie(tie: Tie, first: str, second: str, text: str) -> Reads:
    """That two are tied, by all that was said."""

    def reads(message: Message) -> Extraction:
        claim = Claim(
            kind="triple", text=text, quotes=(Quote(message=message.id, text=message.text),),
            key=tie, subject="other" if first else "person", confidence=0.8,
        )  # fmt: skip
        return Extraction(
            author="extract/2", ties=(Tied(tie=tie, first=first, second=second, claim=claim),)
        )

    return reads


async def ties(house: House, line: Line, *, live: bool = True) -> dict[str, Known]:
    """The ties that are believed, by their texts."""
    known = await believed(house, line, live=live)
    return {each.memory.text: each for each in known if each.memory.kind == "triple"}


PLAIN = [
    ("My sister Ana came.", "Ben is Ana's husband.", "Ben works at Siemens.",
     "I visited Lisbon in May.", "Who is Ana?", "How are Ana and Ben related?"),
    ("Mi hermana Ana vino ayer a la casa.", "Ben es el marido de Ana.", "Ben trabaja en Siemens.",
     "Estuvimos en Lisboa en mayo y fue muy bonito.", "¿Quién es Ana?",
     "¿Qué relación hay entre Ana y Ben?"),
    ("Ma sœur Ana est venue.", "Ben est le mari d'Ana.", "Ben travaille chez Siemens.",
     "J'ai visité Lisbonne en mai.", "Qui est Ana ?", "Quel est le lien entre Ana et Ben ?"),
    ("Meine Schwester Ana war da.", "Ben ist Anas Mann.", "Ben arbeitet bei Siemens.",
     "Ich habe im Mai Lissabon besucht.", "Wer ist Ana?", "Wie sind Ana und Ben verwandt?"),
    ("我姐姐叫小红。", "小林是小红的丈夫。", "小林在西门子工作。",
     "我五月去里斯本旅游了。", "小红是谁？", "小红和小林是什么关系？"),
]  # fmt: skip


@pytest.mark.parametrize("said", PLAIN, ids=["en", "es", "fr", "de", "zh"])
async def test_who_is_tied_to_whom_is_told_by_rules(
    house: House, line: Line, say: Say, said: tuple[str, ...]
) -> None:
    """From plain words, and over two steps: her husband, and where he works."""
    *sentences, who, how = said
    await told(house, line, sentences)

    known = {each.memory.key: each.memory for each in (await ties(house, line)).values()}
    assert known.keys() == {"partner_of", "visited"}
    assert known["visited"].holds_from is not None
    about = (await say(who)).reply.text
    assert sentences[1] in about
    assert sentences[2] in about  # reached over the husband
    between = (await say(how)).reply.text
    assert sentences[1] in between
    assert sentences[2] not in between


OF_MISO = (
    tie("owns", "Ana", "Miso", "Ana owns Miso."),
    tie("lives_in", "Miso", "Porto", "Miso lives in Porto."),
    tie("comes_from", "Miso", "Faro", "Miso comes from Faro."),
)


def all_of(*, of: Sequence[Reads], claims: Sequence[Claim] = ()) -> Reads:
    """Several ties at once, of a cat by its name, and what else was told."""

    def reads(message: Message) -> Extraction:
        quotes = (Quote(message=message.id, text=message.text),)
        names = [("Ana", "person"), ("Miso", "pet"), ("Porto", "place"), ("Faro", "place")]
        return Extraction(
            author="extract/2", ties=tuple(each for one in of for each in one(message).ties),
            claims=tuple(replace(each, quotes=quotes) for each in claims),
            names=tuple(
                Named(name=name, kind=kind, quotes=quotes)
                for name, kind in names
                if name in message.text
            ),
        )  # fmt: skip

    return reads


@pytest.mark.parametrize("is_told_again", [False, True])
async def test_with_a_pet_its_ties_become_history(
    house: House, line: Line, clock: FrozenClock, *, is_told_again: bool
) -> None:
    """Also where whose it was is told once more with its death; undone, they hold again."""
    await read_as(
        house, line, "Ana's cat Miso is from Faro and lives in Porto.", all_of(of=OF_MISO)
    )
    had = set(await ties(house, line))
    assert len(had) == len(OF_MISO)
    clock.tick(minutes=WEEK)
    event = Claim(kind="event", text="The cat Miso died.", quotes=(), impact=-7, names=("Miso",))
    again = OF_MISO[:1] if is_told_again else ()

    await read_as(
        house, line, "Ana's cat Miso died this morning.", all_of(of=again, claims=[event])
    )

    assert set(await ties(house, line)) == {"Miso comes from Faro."}
    owned = (await ties(house, line, live=False))["Ana owns Miso."].memory
    assert owned.status == "superseded"
    assert owned.holds_until is not None
    async with house.db.writing() as tx:
        segment = (await list_segments(tx, line.person.id))[-1]
        await undo_consolidation(tx, line.person.id, segment.id, now=house.clock())
        assert await check_fold(tx, line.person.id) == []
    assert set(await ties(house, line)) == had


async def test_a_tie_first_told_with_the_death_of_a_pet_is_history(
    house: House, line: Line
) -> None:
    """It never was so after that."""
    event = Claim(kind="event", text="The cat Miso died.", quotes=(), impact=-7, names=("Miso",))

    said = "Ana's cat Miso, from Faro, died this morning."
    await read_as(house, line, said, all_of(of=(OF_MISO[0], OF_MISO[2]), claims=[event]))

    assert set(await ties(house, line)) == {"Miso comes from Faro."}
    assert set(await ties(house, line, live=False)) == {"Miso comes from Faro.", "Ana owns Miso."}


async def test_each_mention_makes_a_tie_a_little_surer(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """By .05, to .99; however it is turned, it is one tie."""
    await read_as(
        house, line, "Leo is Rosa's son.", tie("child_of", "Leo", "Rosa", "Leo is Rosa's son.")
    )
    for number in range(5):
        clock.tick(minutes=WEEK)
        said = f"Rosa is Leo's mother, she called for the {number + 2}th time."
        await read_as(house, line, said, tie("parent_of", "Rosa", "Leo", "Rosa is Leo's mother."))
        (only,) = (await ties(house, line)).values()
        assert only.standing.confidence == pytest.approx(min(0.8 + 0.05 * (number + 1), 0.99))
    assert only.standing.times_seen == 6
    async with house.db.reading() as tx:
        names = {each.id: each.name for each in await list_entities(tx, line.person.id)}
    assert [names[each] for each in only.memory.entities] == ["Rosa", "Leo"]


async def test_of_some_ties_there_is_one_at_a_time(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """Both are written, with until when; what took the place of one is undone with it."""
    await read_as(
        house, line, "Ana is with Ben now.", tie("partner_of", "Ana", "Ben", "Ana is with Ben.")
    )
    clock.tick(minutes=WEEK)
    await read_as(
        house,
        line,
        "Carl and Ana are together!",
        tie("partner_of", "Carl", "Ana", "Carl is with Ana."),
    )
    known = await ties(house, line, live=False)
    was, now = known["Ana is with Ben."].memory, known["Carl is with Ana."].memory
    assert (was.status, was.holds_until) == ("superseded", now.holds_from)
    assert [link.other for link in now.relations] == [was.id]

    async with house.db.writing() as tx:
        segment = (await list_segments(tx, line.person.id))[-1]
        await undo_consolidation(tx, line.person.id, segment.id, now=house.clock())
        before = await list_memories(tx, line.person.id, live=False)
        await rebuild(tx, line.person.id)
        assert await check_fold(tx, line.person.id) == []
        assert await list_memories(tx, line.person.id, live=False) == before
    assert [*await ties(house, line)] == ["Ana is with Ben."]


async def test_what_is_disliked_is_liked_no_longer(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """Of the same; something else may be liked beside it."""
    for said, kind, whom in (
        ("Ana adores Nina Simone.", "likes", "Nina Simone"),
        ("Ana adores Miles Davis too.", "likes", "Miles Davis"),
        ("Ana can't stand Nina Simone any more.", "dislikes", "Nina Simone"),
    ):
        clock.tick(minutes=WEEK)
        await read_as(house, line, said, tie(kind, "Ana", whom, said))

    assert {*await ties(house, line)} == {
        "Ana adores Miles Davis too.", "Ana can't stand Nina Simone any more.",
    }  # fmt: skip


async def test_a_fact_says_what_a_tie_would_say(
    house: House, line: Line, clock: FrozenClock, say: Say
) -> None:
    """Nothing is believed twice: its words are more words for the fact, which alone changes it."""
    await told(house, line, ["My sister Ana came.", "Ana works at Siemens."])
    clock.tick(minutes=WEEK)
    await read_as(
        house,
        line,
        "Ana is still at Siemens.",
        tie("works_at", "Ana", "Siemens", "Ana works at Siemens."),
    )
    clock.tick(minutes=WEEK)
    await read_as(
        house, line, "Ana met Bosch people.", tie("works_at", "Ana", "Bosch", "Ana works at Bosch.")
    )

    assert await ties(house, line, live=False) == {}
    (fact,) = [k for k in await believed(house, line) if k.memory.key == "Ana:workplace"]
    assert (fact.memory.value, fact.standing.times_seen) == ("Siemens", 2)
    assert "Siemens" in (await say("Who is Ana?")).reply.text


async def test_two_names_of_one_share_their_ties(house: House, line: Line, say: Say) -> None:
    """Once they are known to be the same; whatever was said of either."""
    await told(house, line, ["My sister Ana came.", "Anita and Ben are married."])
    assert "Ben" not in (await say("Who is Ana?")).reply.text
    async with house.db.reading() as tx:
        ids = {each.name: each.id for each in await list_entities(tx, line.person.id)}
    await merge(house, line.person.id, ids["Ana"], ids["Anita"])

    assert "Anita and Ben are married." in (await say("Who is Ana?")).reply.text
    assert "Anita and Ben are married." in (await say("How are Ben and Ana related?")).reply.text


async def test_the_person_puts_a_tie_right(house: House, line: Line, clock: FrozenClock) -> None:
    """What they reject is not learned again; another end of it must be somebody known."""
    await told(house, line, ["My friend Carl came.", "Ben is Ana's husband."])
    (known,) = (await ties(house, line)).values()
    with pytest.raises(InvalidInput, match="Nobody and nothing is known as 'Dora'"):
        await edit(house, line.person.id, known.memory.id, "Ben is Dora's husband.", value="Dora")
    value = known.memory.value
    right = known.memory.text.replace(value, "Carl")
    await edit(house, line.person.id, known.memory.id, right, value="Carl")
    (now,) = (await ties(house, line)).values()
    async with house.db.reading() as tx:
        names = {each.id: each.name for each in await list_entities(tx, line.person.id)}
    assert names[now.memory.entities[-1]] == "Carl"
    await judge(house, line.person.id, "reject", now.memory.id)
    live = await ties(house, line)
    assert [*live] == ["Ben is Ana's husband."]
    await judge(house, line.person.id, "reject", known.memory.id)
    assert await ties(house, line) == {}


async def test_who_is_forgotten_is_tied_to_nobody(house: House, line: Line, say: Say) -> None:
    """The ties go with the words, and the rest stays."""
    await told(house, line, ["My sister Ana came.", "Ben is Ana's husband.", "I visited Lisbon."])
    await forget(house, line.person.id, Wish(about="Ben"))

    assert [*await ties(house, line, live=False)] == ["Visited Lisbon."]
    assert "Ben" not in (await say("Who is Ana?")).reply.text


async def test_a_plan_comes_true_by_going_there(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """What was planned is fulfilled, what was visited stays."""
    await told(house, line, ["We are planning a trip to Goa."])
    clock.tick(minutes=WEEK)
    await told(house, line, ["We visited Goa last week."])

    states = {k.memory.key: k.memory.status for k in (await ties(house, line, live=False)).values()}
    assert states == {"plans_for": "fulfilled", "visited": "active"}


def at_work(where: str, text: str, since: str, until: str | None) -> Reads:
    """That Ana works or worked somewhere, by all that was said."""
    reads = tie("works_at", "Ana", where, text)
    begin, end = (each and parse_moment(each, "UTC")[0] for each in (since, until))

    def dated(message: Message) -> Extraction:
        (told,) = reads(message).ties
        claim = replace(told.claim, holds_from=begin or None, holds_until=end or None)
        return Extraction(author="extract/2", ties=(replace(told, claim=claim),))

    return dated


async def found_for(house: House, line: Line, question: str) -> list[str]:
    """The texts of the ties that are recalled for a question."""
    async with house.db.reading() as tx:
        beliefs = await house.shelf.beliefs_of(tx, line.person.id)
    asked = Question(text=question, language="en", asked_at=house.clock())
    found = beliefs.search(asked, 10)
    return [h.known.memory.text for h in found.hits if h.known.memory.kind == "triple"]


async def test_ties_are_of_the_time_that_one_asks_about(
    house: House, line: Line, clock: FrozenClock, say: Say
) -> None:
    """What has ended is told of its own time; what is so now, not of a time before it was."""
    await told(house, line, ["My friend Ana came."])
    was, now = "Ana worked at Siemens.", "Ana works at Bosch."
    for text, where, since, until in (
        (was, "Siemens", "2015-03-01", "2021-06-01"), (now, "Bosch", "2021-06-01", None),
    ):  # fmt: skip
        clock.tick(minutes=WEEK)
        await read_as(house, line, text, at_work(where, text, since, until))

    assert await found_for(house, line, "Where did Ana work in 2019?") == [was]
    assert await found_for(house, line, "Where did Ana work in 2023?") == [now]
    assert await found_for(house, line, "What do you know about Ana's job in 2019?") == [was]
    assert (await found_for(house, line, "Where did Ana work before?"))[0] == was
    assert await found_for(house, line, "Where does Ana work?") == [now]
    reply = (await say("Where did Ana work in 2019?")).reply.text
    assert (was in reply, now in reply) == (True, False)


def boss(name: str) -> Reads:
    """That somebody is the person's boss, by all that was said."""

    def reads(message: Message) -> Extraction:
        claim = Claim(
            kind="fact", text=f"{name} is the boss.", key="boss", value=name, confidence=0.9,
            quotes=(Quote(message=message.id, text=message.text),),
        )  # fmt: skip
        return Extraction(author="extract/2", claims=(claim,))

    return reads


async def test_a_former_boss_is_named(
    house: House, line: Line, clock: FrozenClock, say: Say
) -> None:
    """Who somebody was to the person before, though somebody else is now."""
    for name in ("Rosa Klein", "Tom Hall"):
        clock.tick(minutes=WEEK)
        await read_as(house, line, f"My boss is {name}.", boss(name))

    was, now = [(await say(q)).reply.text for q in ("Who was my boss before?", "Who is my boss?")]
    assert "Rosa" in was
    assert "Tom" not in was
    assert "Tom" in now


async def test_where_somebody_was_is_of_that_time(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """A visit is of its day, not of ever since."""
    await told(house, line, ["I visited Lisbon in May."])
    (visit,) = (await ties(house, line)).values()
    begin = from_micros(visit.memory.holds_from or 0)

    assert await found_for(house, line, f"Was I in Lisbon in {begin:%B %Y}?") == ["Visited Lisbon."]
    assert await found_for(house, line, f"Was I in Lisbon in {begin.year - 3}?") == []


async def test_a_plan_ends_with_its_time(house: House, line: Line, clock: FrozenClock) -> None:
    """Two days after, for want of a word; as what was planned it is still known of its time."""
    await told(house, line, ["We are planning a trip to Goa in March 2024."])
    (planned,) = (await ties(house, line)).values()
    until = planned.memory.holds_until
    assert until is not None
    clock.now = until + DAY
    await tidy(house, line.person.id)
    assert [*await ties(house, line)] == [planned.memory.text]
    clock.now = until + 3 * DAY
    await tidy(house, line.person.id)

    assert await ties(house, line) == {}
    (over,) = [each.memory for each in (await ties(house, line, live=False)).values()]
    assert (over.status, over.holds_until, over.ended_at) == ("expired", until, clock.now)
    asked = "Was I planning to go to Goa in March 2024?"
    assert await found_for(house, line, asked) == [planned.memory.text]
    assert await found_for(house, line, "Was I planning to go to Goa in 2019?") == []
    assert await found_for(house, line, "Am I going to Goa?") == []
