"""Who and what is tied to whom is known, overtaken, taken back, walked along: in the house."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.beliefs.correct import apply_belief_action, edit_belief_text, merge_beliefs
from oldfriend.domain.clock import DAY, from_micros, parse_timestamp
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.memories import MemoryState, RelationType
from oldfriend.domain.messages import Message
from oldfriend.forgetting.delete import forget
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.learning.consolidate import ConsolidationResult, consolidate
from oldfriend.learning.extraction import (
    Claim,
    EntityMention,
    Extraction,
    ExtractionInput,
    Quote,
    RelationClaim,
)
from oldfriend.learning.extractor_factory import build_consolidation_deps
from oldfriend.learning.learning_scheduler import maintain_memory, schedule_learning
from oldfriend.memory.belief_views import list_entities, list_memories
from oldfriend.memory.consolidation_undo import undo_consolidation
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.journal import list_view_mismatches, rebuild_views
from oldfriend.memory.segments import list_segments
from oldfriend.replies.reply_worker import answer_message
from oldfriend.search import SearchQuery
from tests.chat_fixtures import Say
from tests.clock import FrozenClock
from tests.learning.test_learning_from_messages import believed, told

WEEK = 60 * 24 * 7
Reads = Callable[[Message], Extraction]

pytestmark = pytest.mark.usefixtures("settings_folder")


async def read_as(
    app: AppContext, chat_context: ChatContext, said: str, reads: Reads
) -> ConsolidationResult:
    """Say something, and have it read as somebody reads it."""
    await answer_message(app, chat_context, MessageSubmission(text=said))
    (segment,) = await schedule_learning(
        app.db, app.clock, app.settings, chat_context.person.id, cut_reason="asked"
    )

    async def read(material: ExtractionInput) -> Extraction:
        return reads(next(each for each in material.messages if each.role == "person"))

    means = await build_consolidation_deps(app, segment)
    done = await consolidate(replace(means, extract=read, extract_small_talk=read), segment)
    assert done is not None
    return done


def tie(tie: RelationType, first: str, second: str, text: str) -> Reads:
    """That two are tied, by all that was said."""

    def reads(message: Message) -> Extraction:
        claim = Claim(
            kind="triple",
            text=text,
            quotes=(Quote(message=message.id, text=message.text),),
            key=tie,
            subject="other" if first else "person",
            confidence=0.8,
        )
        return Extraction(
            author="extract/2",
            relations=(RelationClaim(kind=tie, first=first, second=second, claim=claim),),
        )

    return reads


async def ties(
    app: AppContext, chat_context: ChatContext, *, live: bool = True
) -> dict[str, MemoryState]:
    """The ties that are believed, by their texts."""
    known = await believed(app, chat_context, live=live)
    return {each.memory.text: each for each in known if each.memory.kind == "triple"}


PLAIN = [
    (
        "My sister Ana came.",
        "Ben is Ana's husband.",
        "Ben works at Siemens.",
        "I visited Lisbon in May.",
        "Who is Ana?",
        "How are Ana and Ben related?",
    ),
    (
        "Mi hermana Ana vino ayer a la casa.",
        "Ben es el marido de Ana.",
        "Ben trabaja en Siemens.",
        "Estuvimos en Lisboa en mayo y fue muy bonito.",
        "¿Quién es Ana?",
        "¿Qué relación hay entre Ana y Ben?",
    ),
    (
        "Ma sœur Ana est venue.",
        "Ben est le mari d'Ana.",
        "Ben travaille chez Siemens.",
        "J'ai visité Lisbonne en mai.",
        "Qui est Ana ?",
        "Quel est le lien entre Ana et Ben ?",
    ),
    (
        "Meine Schwester Ana war da.",
        "Ben ist Anas Mann.",
        "Ben arbeitet bei Siemens.",
        "Ich habe im Mai Lissabon besucht.",
        "Wer ist Ana?",
        "Wie sind Ana und Ben verwandt?",
    ),
    (
        "我姐姐叫小红。",
        "小林是小红的丈夫。",
        "小林在西门子工作。",
        "我五月去里斯本旅游了。",
        "小红是谁？",
        "小红和小林是什么关系？",
    ),
]


@pytest.mark.parametrize("said", PLAIN, ids=["en", "es", "fr", "de", "zh"])
async def test_rules_learn_relations_and_replies_use_them_over_two_hops(
    app: AppContext, chat_context: ChatContext, say: Say, said: tuple[str, ...]
) -> None:
    """From plain words, and over two steps: her husband, and where he works."""
    *sentences, who, how = said
    await told(app, chat_context, sentences)

    known = {each.memory.key: each.memory for each in (await ties(app, chat_context)).values()}
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
            author="extract/2",
            relations=tuple(each for one in of for each in one(message).relations),
            claims=tuple(replace(each, quotes=quotes) for each in claims),
            mentions=tuple(
                EntityMention(name=name, kind=kind, quotes=quotes)
                for name, kind in names
                if name in message.text
            ),
        )

    return reads


@pytest.mark.parametrize("is_told_again", [False, True])
async def test_pets_death_supersedes_its_relations_until_undone(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, *, is_told_again: bool
) -> None:
    """Also where whose it was is told once more with its death; undone, they hold again."""
    await read_as(
        app, chat_context, "Ana's cat Miso is from Faro and lives in Porto.", all_of(of=OF_MISO)
    )
    had = set(await ties(app, chat_context))
    assert len(had) == len(OF_MISO)
    clock.tick(minutes=WEEK)
    event = Claim(kind="event", text="The cat Miso died.", quotes=(), impact=-7, names=("Miso",))
    again = OF_MISO[:1] if is_told_again else ()

    await read_as(
        app, chat_context, "Ana's cat Miso died this morning.", all_of(of=again, claims=[event])
    )

    assert set(await ties(app, chat_context)) == {"Miso comes from Faro."}
    owned = (await ties(app, chat_context, live=False))["Ana owns Miso."].memory
    assert owned.status == "superseded"
    assert owned.holds_until is not None
    async with app.db.begin_write() as tx:
        segment = (await list_segments(tx, chat_context.person.id))[-1]
        await undo_consolidation(tx, chat_context.person.id, segment.id, now=app.clock())
        assert await list_view_mismatches(tx, chat_context.person.id) == []
    assert set(await ties(app, chat_context)) == had


async def test_relation_first_mentioned_with_the_pets_death_is_superseded(
    app: AppContext, chat_context: ChatContext
) -> None:
    """It never was so after that."""
    event = Claim(kind="event", text="The cat Miso died.", quotes=(), impact=-7, names=("Miso",))

    said = "Ana's cat Miso, from Faro, died this morning."
    await read_as(app, chat_context, said, all_of(of=(OF_MISO[0], OF_MISO[2]), claims=[event]))

    assert set(await ties(app, chat_context)) == {"Miso comes from Faro."}
    assert set(await ties(app, chat_context, live=False)) == {
        "Miso comes from Faro.",
        "Ana owns Miso.",
    }


async def test_repeated_mention_raises_the_confidence_of_one_relation(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """By .05, to .99; however it is turned, it is one tie."""
    await read_as(
        app,
        chat_context,
        "Leo is Rosa's son.",
        tie("child_of", "Leo", "Rosa", "Leo is Rosa's son."),
    )
    for number in range(5):
        clock.tick(minutes=WEEK)
        said = f"Rosa is Leo's mother, she called for the {number + 2}th time."
        await read_as(
            app, chat_context, said, tie("parent_of", "Rosa", "Leo", "Rosa is Leo's mother.")
        )
        (only,) = (await ties(app, chat_context)).values()
        assert only.stats.confidence == pytest.approx(min(0.8 + 0.05 * (number + 1), 0.99))
    assert only.stats.times_seen == 6
    async with app.db.begin_read() as tx:
        names = {each.id: each.name for each in await list_entities(tx, chat_context.person.id)}
    assert [names[each] for each in only.memory.entities] == ["Rosa", "Leo"]


async def test_new_partner_supersedes_the_old_relation_until_undone(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Both are written, with until when; what took the place of one is undone with it."""
    await read_as(
        app,
        chat_context,
        "Ana is with Ben now.",
        tie("partner_of", "Ana", "Ben", "Ana is with Ben."),
    )
    clock.tick(minutes=WEEK)
    await read_as(
        app,
        chat_context,
        "Carl and Ana are together!",
        tie("partner_of", "Carl", "Ana", "Carl is with Ana."),
    )
    known = await ties(app, chat_context, live=False)
    was, now = known["Ana is with Ben."].memory, known["Carl is with Ana."].memory
    assert (was.status, was.holds_until) == ("superseded", now.holds_from)
    assert [link.target for link in now.relations] == [was.id]

    async with app.db.begin_write() as tx:
        segment = (await list_segments(tx, chat_context.person.id))[-1]
        await undo_consolidation(tx, chat_context.person.id, segment.id, now=app.clock())
        before = await list_memories(tx, chat_context.person.id, live=False)
        await rebuild_views(tx, chat_context.person.id)
        assert await list_view_mismatches(tx, chat_context.person.id) == []
        assert await list_memories(tx, chat_context.person.id, live=False) == before
    assert [*await ties(app, chat_context)] == ["Ana is with Ben."]


async def test_dislike_relation_supersedes_the_like_of_the_same_object(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Of the same; something else may be liked beside it."""
    for said, kind, whom in (
        ("Ana adores Nina Simone.", "likes", "Nina Simone"),
        ("Ana adores Miles Davis too.", "likes", "Miles Davis"),
        ("Ana can't stand Nina Simone any more.", "dislikes", "Nina Simone"),
    ):
        clock.tick(minutes=WEEK)
        await read_as(app, chat_context, said, tie(kind, "Ana", whom, said))

    assert {*await ties(app, chat_context)} == {
        "Ana adores Miles Davis too.",
        "Ana can't stand Nina Simone any more.",
    }


async def test_relation_already_stated_by_a_fact_reinforces_the_fact_instead(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, say: Say
) -> None:
    """Nothing is believed twice: its words are more words for the fact, which alone changes it."""
    await told(app, chat_context, ["My sister Ana came.", "Ana works at Siemens."])
    clock.tick(minutes=WEEK)
    await read_as(
        app,
        chat_context,
        "Ana is still at Siemens.",
        tie("works_at", "Ana", "Siemens", "Ana works at Siemens."),
    )
    clock.tick(minutes=WEEK)
    await read_as(
        app,
        chat_context,
        "Ana met Bosch people.",
        tie("works_at", "Ana", "Bosch", "Ana works at Bosch."),
    )

    assert await ties(app, chat_context, live=False) == {}
    (fact,) = [k for k in await believed(app, chat_context) if k.memory.key == "Ana:workplace"]
    assert (fact.memory.value, fact.stats.times_seen) == ("Siemens", 2)
    assert "Siemens" in (await say("Who is Ana?")).reply.text


async def test_merged_entities_share_their_relations(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """Once they are known to be the same; whatever was said of either."""
    await told(app, chat_context, ["My sister Ana came.", "Anita and Ben are married."])
    assert "Ben" not in (await say("Who is Ana?")).reply.text
    async with app.db.begin_read() as tx:
        ids = {each.name: each.id for each in await list_entities(tx, chat_context.person.id)}
    await merge_beliefs(app, chat_context.person.id, ids["Ana"], ids["Anita"])

    assert "Anita and Ben are married." in (await say("Who is Ana?")).reply.text
    assert "Anita and Ben are married." in (await say("How are Ben and Ana related?")).reply.text


async def test_edited_relation_needs_a_known_entity_and_can_be_rejected(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """What they reject is not learned again; another end of it must be somebody known."""
    await told(app, chat_context, ["My friend Carl came.", "Ben is Ana's husband."])
    (known,) = (await ties(app, chat_context)).values()
    with pytest.raises(InvalidInput, match="No name is known as 'Dora'"):
        await edit_belief_text(
            app.db,
            app.clock,
            chat_context.person.id,
            known.memory.id,
            "Ben is Dora's husband.",
            value="Dora",
        )
    value = known.memory.value
    right = known.memory.text.replace(value, "Carl")
    await edit_belief_text(
        app.db, app.clock, chat_context.person.id, known.memory.id, right, value="Carl"
    )
    (now,) = (await ties(app, chat_context)).values()
    async with app.db.begin_read() as tx:
        names = {each.id: each.name for each in await list_entities(tx, chat_context.person.id)}
    assert names[now.memory.entities[-1]] == "Carl"
    await apply_belief_action(app.db, app.clock, chat_context.person.id, "reject", now.memory.id)
    live = await ties(app, chat_context)
    assert [*live] == ["Ben is Ana's husband."]
    await apply_belief_action(app.db, app.clock, chat_context.person.id, "reject", known.memory.id)
    assert await ties(app, chat_context) == {}


async def test_forgetting_a_person_deletes_their_relations(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """The ties go with the words, and the rest stays."""
    await told(
        app, chat_context, ["My sister Ana came.", "Ben is Ana's husband.", "I visited Lisbon."]
    )
    await forget(app, chat_context.person.id, DeletionRequest(about="Ben"))

    assert [*await ties(app, chat_context, live=False)] == ["Visited Lisbon."]
    assert "Ben" not in (await say("Who is Ana?")).reply.text


async def test_visiting_a_place_fulfils_the_plan_relation(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """What was planned is fulfilled, what was visited stays."""
    await told(app, chat_context, ["We are planning a trip to Goa."])
    clock.tick(minutes=WEEK)
    await told(app, chat_context, ["We visited Goa last week."])

    states = {
        k.memory.key: k.memory.status for k in (await ties(app, chat_context, live=False)).values()
    }
    assert states == {"plans_for": "fulfilled", "visited": "active"}


def at_work(where: str, text: str, since: str, until: str | None) -> Reads:
    """That Ana works or worked somewhere, by all that was said."""
    reads = tie("works_at", "Ana", where, text)
    begin, end = (each and parse_timestamp(each, "UTC")[0] for each in (since, until))

    def dated(message: Message) -> Extraction:
        (told,) = reads(message).relations
        claim = replace(told.claim, holds_from=begin or None, holds_until=end or None)
        return Extraction(author="extract/2", relations=(replace(told, claim=claim),))

    return dated


async def found_for(app: AppContext, chat_context: ChatContext, question: str) -> list[str]:
    """The texts of the ties that are recalled for a question."""
    async with app.db.begin_read() as tx:
        beliefs = await app.index_cache.get_belief_index(tx, chat_context.person.id)
    asked = SearchQuery(text=question, language="en", asked_at=app.clock())
    found = beliefs.search(asked, 10)
    return [h.known.memory.text for h in found.hits if h.known.memory.kind == "triple"]


async def test_relations_are_recalled_for_the_time_asked_about(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, say: Say
) -> None:
    """What has ended is told of its own time; what is so now, not of a time before it was."""
    await told(app, chat_context, ["My friend Ana came."])
    was, now = "Ana worked at Siemens.", "Ana works at Bosch."
    for text, where, since, until in (
        (was, "Siemens", "2015-03-01", "2021-06-01"),
        (now, "Bosch", "2021-06-01", None),
    ):
        clock.tick(minutes=WEEK)
        await read_as(app, chat_context, text, at_work(where, text, since, until))

    assert await found_for(app, chat_context, "Where did Ana work in 2019?") == [was]
    assert await found_for(app, chat_context, "Where did Ana work in 2023?") == [now]
    assert await found_for(app, chat_context, "What do you know about Ana's job in 2019?") == [was]
    assert (await found_for(app, chat_context, "Where did Ana work before?"))[0] == was
    assert await found_for(app, chat_context, "Where does Ana work?") == [now]
    reply = (await say("Where did Ana work in 2019?")).reply.text
    assert (was in reply, now in reply) == (True, False)


def boss(name: str) -> Reads:
    """That somebody is the person's boss, by all that was said."""

    def reads(message: Message) -> Extraction:
        claim = Claim(
            kind="fact",
            text=f"{name} is the boss.",
            key="boss",
            value=name,
            confidence=0.9,
            quotes=(Quote(message=message.id, text=message.text),),
        )
        return Extraction(author="extract/2", claims=(claim,))

    return reads


async def test_former_and_current_boss_are_told_apart_by_the_question(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, say: Say
) -> None:
    """Who somebody was to the person before, though somebody else is now."""
    for name in ("Rosa Klein", "Tom Hall"):
        clock.tick(minutes=WEEK)
        await read_as(app, chat_context, f"My boss is {name}.", boss(name))

    was, now = [(await say(q)).reply.text for q in ("Who was my boss before?", "Who is my boss?")]
    assert "Rosa" in was
    assert "Tom" not in was
    assert "Tom" in now


async def test_visit_is_recalled_only_for_its_own_time(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """A visit is of its day, not of ever since."""
    await told(app, chat_context, ["I visited Lisbon in May."])
    (visit,) = (await ties(app, chat_context)).values()
    begin = from_micros(visit.memory.holds_from or 0)

    assert await found_for(app, chat_context, f"Was I in Lisbon in {begin:%B %Y}?") == [
        "Visited Lisbon."
    ]
    assert await found_for(app, chat_context, f"Was I in Lisbon in {begin.year - 3}?") == []


async def test_plan_relation_expires_two_days_after_its_end(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Two days after, for want of a word; as what was planned it is still known of its time."""
    await told(app, chat_context, ["We are planning a trip to Goa in March 2024."])
    (planned,) = (await ties(app, chat_context)).values()
    until = planned.memory.holds_until
    assert until is not None
    clock.now = until + DAY
    await maintain_memory(app, chat_context.person.id)
    assert [*await ties(app, chat_context)] == [planned.memory.text]
    clock.now = until + 3 * DAY
    await maintain_memory(app, chat_context.person.id)

    assert await ties(app, chat_context) == {}
    (over,) = [each.memory for each in (await ties(app, chat_context, live=False)).values()]
    assert (over.status, over.holds_until, over.ended_at) == ("expired", until, clock.now)
    asked = "Was I planning to go to Goa in March 2024?"
    assert await found_for(app, chat_context, asked) == [planned.memory.text]
    assert await found_for(app, chat_context, "Was I planning to go to Goa in 2019?") == []
    assert await found_for(app, chat_context, "Am I going to Goa?") == []
