"""What is said in a group is remembered there and by its members, and never more is told there."""

from dataclasses import replace
from typing import Any

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.app.embed_messages import EMBED_JOB
from oldfriend.channels.channel import (
    ChannelEvent,
    ChatAvailability,
    ChatMoved,
    ChatRef,
    IncomingMessage,
    MembershipChange,
    Reaction,
    Sender,
)
from oldfriend.channels.telegram.telegram_settings import TelegramSettings
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import ADDRESS_DETAIL, RECORDING_KEY, Person
from oldfriend.domain.messages import Message as Kept
from oldfriend.forgetting.delete import forget
from oldfriend.inbound.account_linking import create_code, unlink_channel
from oldfriend.inbound.chat_resolver import ALBUM_WINDOW
from oldfriend.inbound.receive import handle_event
from oldfriend.inbound.system_replies import SystemReply
from oldfriend.inbound.voice_messages import TranscribedAudio, write_transcript
from oldfriend.llm.model import ToolCall, ToolResult
from oldfriend.llm.scripted import ScriptedModel, ScriptedReply
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.groups import find_group, list_group_chats, list_members
from oldfriend.memory.message_log import list_messages
from oldfriend.memory.people import find_person, list_people
from oldfriend.presenters.deletion_text import KEPT_IN_GROUP, list_remarks
from oldfriend.presenters.message_schemas import MessageSchema
from oldfriend.queues.outbox import find_block_reason
from oldfriend.queues.queue import claim_jobs, list_jobs
from oldfriend.replies.reply_worker import process_chat
from oldfriend.runtime.learn_now import learn_now
from oldfriend.turn import reply_context
from oldfriend.turn.recalled import EMPTY_RECALL, RecallResult
from tests.app.test_turn_queue import Platform, with_model
from tests.clock import FrozenClock
from tests.learning.test_learning_scheduler import planned, work

ANA = Sender(address="7", name="Ana")
BEN = Sender(address="8", name="Ben")
EVE = Sender(address="9", name="Eve")
FAMILY = ChatRef(channel="telegram", address="-100", title="Family", is_private=False)
CAKES = replace(FAMILY, address="-100/5")
WORK = replace(FAMILY, address="-200", title="Work")
GROUP = "Family (group)"


class Town:
    """People who talk to the companion, each alone and together."""

    def __init__(self, app: AppContext, clock: FrozenClock) -> None:
        """Nothing was said yet."""
        self.app = app
        self.clock = clock
        self.number = 0

    async def says(
        self, sender: Sender, text: str, spot: ChatRef | None = None, **more: Any
    ) -> SystemReply | None:
        """Say something, here or alone; what is said to it at once."""
        self.number += 1
        self.clock.tick(seconds=5)
        place = spot or ChatRef(
            channel="telegram", address=sender.address, title=sender.name, is_private=True
        )
        said: dict[str, Any] = {
            "external_id": f"message:{place.group_address}:{self.number}",
            "text": text,
            "is_addressed": place.is_private,
            **more,
        }
        return await handle_event(
            self.app,
            IncomingMessage(
                chat_ref=place, sender=sender, number=self.number, at=self.app.clock(), **said
            ),
        )

    async def happens(self, what: ChannelEvent) -> None:
        """Something else happens."""
        await handle_event(self.app, what)

    async def asks(self, sender: Sender, text: str, spot: ChatRef = FAMILY, **more: Any) -> str:
        """Call the companion in a group; its answer."""
        called = f"@oldfriend_bot {text}"
        details = {ADDRESS_DETAIL: "@oldfriend_bot"}
        await self.says(sender, called, spot, is_addressed=True, details=details, **more)
        return await self.answer()

    async def answer(self) -> str:
        """Have everything answered that waits; the last answer."""
        self.clock.tick(minutes=1)
        while True:
            async with self.app.db.begin_write() as tx:
                held = await claim_jobs(
                    tx, "inbox", owner="test", now=self.app.clock(), lease_s=30.0
                )
            if held is None:
                break
            await process_chat(self.app, held)
        async with self.app.db.begin_read() as tx:
            rows = await tx.rows(
                "SELECT text FROM message WHERE role = 'companion' ORDER BY written_at, id"
            )
        return str(rows[-1][0]) if rows else ""

    async def log_of(self, name: str) -> list[Kept]:
        """What is kept in somebody's memory, or a group's."""
        async with self.app.db.begin_read() as tx:
            person = await find_person(tx, name)
            return [] if person is None else await list_messages(tx, person.id)

    async def members(self) -> list[str]:
        """Whom we know in the family."""
        async with self.app.db.begin_read() as tx:
            return sorted(each.name for each in await list_members(tx, "telegram", "-100"))


@pytest.fixture
async def town(app: AppContext, clock: FrozenClock) -> Town:
    """A town in which Ana is the owner, Ben is known, and the family is let in."""
    town = Town(app, clock)
    for sender, name in ((ANA, "Ana"), (BEN, "Ben")):
        if sender is ANA:
            _, code = await create_code(app.db, app.clock, app.settings, None)
        else:
            _, code = await create_code(app.db, app.clock, app.settings, name)
        await town.says(sender, code)
    await town.says(ANA, "/allow", FAMILY, is_addressed=True)
    return town


async def group_of(app: AppContext) -> Person | None:
    """The family."""
    async with app.db.begin_read() as tx:
        return await find_group(tx, "telegram", "-100")


async def test_only_the_owner_can_allow_the_companion_in_a_group(
    app: AppContext, clock: FrozenClock
) -> None:
    """Before that one polite line a day, to whoever talks to it, and nothing is kept."""
    town = Town(app, clock)
    for sender, name in ((ANA, None), (BEN, "Ben")):
        _, code = await create_code(app.db, app.clock, app.settings, name)
        await town.says(sender, code)
    silent = await town.says(ANA, "who brings cake?", FAMILY)
    told = await town.says(BEN, "/allow", FAMILY, is_addressed=True)
    again = await town.says(BEN, "what about you?", CAKES, is_addressed=True)
    assert await group_of(app) is None
    allowed = await town.says(ANA, "/allow@oldfriend_bot", FAMILY, is_addressed=True)
    family = await group_of(app)
    left = await town.says(ANA, "/disallow", FAMILY, is_addressed=True)
    await town.says(BEN, "a secret plan", FAMILY, is_addressed=True)

    assert (silent, again) == (None, None)
    assert told is not None
    assert "unless my owner" in told.text
    assert allowed is not None
    assert "From now on I keep" in allowed.text
    assert family is not None
    assert family.name == GROUP
    assert left is not None
    assert await group_of(app) is None
    assert await town.log_of(GROUP) == []
    await town.says(ANA, "/allow", FAMILY, is_addressed=True)
    assert await group_of(app) == family  # and it knows it again


async def test_only_groups_allowed_in_the_settings_are_stored(
    app: AppContext, clock: FrozenClock
) -> None:
    """An empty list is no group at all."""
    allowed = TelegramSettings(allowed=("-100",))
    town = Town(replace(app, settings=replace(app.settings, channels={"telegram": allowed})), clock)
    await town.says(BEN, "the cake is mine", FAMILY)
    await town.says(BEN, "the plan is mine", WORK)

    assert [each.text for each in await town.log_of(GROUP)] == ["the cake is mine"]
    async with app.db.begin_read() as tx:
        assert [each.name for each in await list_people(tx)] == ["owner", GROUP]


async def test_group_message_is_person_trust_for_its_author_and_other_for_the_rest(
    town: Town,
) -> None:
    """In the group each is another; in the memory of whoever said it, it is their own word."""
    await town.says(BEN, "I moved to Porto.", FAMILY)
    await town.says(EVE, "I never liked fish.", FAMILY)
    await town.says(ANA, "Nuts are dangerous.", FAMILY, is_own_words=False)
    ben = await town.log_of("Ben")
    family = await town.log_of(GROUP)
    owner = await town.log_of("owner")

    assert [(m.role, m.trust, m.speaker, m.text) for m in family] == [
        ("other", "other", "Ben", "I moved to Porto."),
        ("other", "other", "Eve", "I never liked fish."),
        ("other", "outside", "owner", "Nuts are dangerous."),
    ]
    assert [(m.role, m.trust, m.text) for m in ben] == [
        ("person", "person", "I moved to Porto."),
        ("other", "other", "I never liked fish."),
        ("other", "outside", "Nuts are dangerous."),
    ]
    assert [(m.role, m.trust) for m in owner] == [
        ("other", "other"),
        ("other", "other"),
        ("person", "outside"),
    ]
    assert family[0].author == ben[0].author == ben[0].person
    assert family[1].author == "telegram 9"
    assert not await town.log_of("Eve")


async def group_of_last(town: Town, name: str) -> str | None:
    """The group that the page names beside somebody's last message."""
    last = (await town.log_of(name))[-1]
    async with town.app.db.begin_read() as tx:
        return MessageSchema.from_domain(last, groups=await list_group_chats(tx, last.person)).group


async def test_own_chat_names_the_group_of_a_message_and_none_in_private(town: Town) -> None:
    """By its title as others may show it, and not by the name of the channel."""
    await town.says(BEN, "I moved to Porto.", FAMILY)
    assert await group_of_last(town, "Ben") == "Family"
    await town.says(BEN, "Nobody else hears this.")
    assert await group_of_last(town, "Ben") is None

    for address, title, shown in (
        ("-300", "Party \ud83d\u202e", "Party \ufffd"),
        ("-400", "telegram", None),
    ):
        chat_ref = replace(FAMILY, address=address, title=title)
        await town.says(ANA, "/allow", chat_ref, is_addressed=True)
        await town.says(BEN, f"Said in {address}.", chat_ref)
        assert (await town.log_of("Ben"))[-1].text == f"Said in {address}."
        assert await group_of_last(town, "Ben") == shown


async def test_forgetting_a_name_in_a_groups_title_leaves_what_was_said_there(town: Town) -> None:
    """The title is not part of what anybody has said."""
    chat_ref = replace(FAMILY, address="-300", title="Tom & Ana")
    await town.says(ANA, "/allow", chat_ref, is_addressed=True)
    await town.says(BEN, "I am allergic to nuts.", chat_ref)
    await town.says(BEN, "Tom is late.", chat_ref)
    async with town.app.db.begin_read() as tx:
        ben = await find_person(tx, "Ben")
    assert ben is not None

    await forget(town.app, ben.id, DeletionRequest(about="Tom"))

    assert [each.text for each in await town.log_of("Ben")] == ["I am allergic to nuts."]


async def test_forgetting_a_group_message_reports_that_other_members_keep_it(town: Town) -> None:
    """The proof is of one memory, and says so; not of what was said alone."""
    await town.says(BEN, "my marmalade won a prize in the village", FAMILY)
    await town.says(BEN, "my secret pantry is behind the stairs")
    reports = []
    async with town.app.db.begin_read() as tx:
        ben = await find_person(tx, "Ben")
        group = await find_person(tx, GROUP)
    assert ben is not None
    assert group is not None
    for person, about in ((ben, "pantry"), (ben, "marmalade"), (group, "marmalade")):
        (seen,) = [each for each in await town.log_of(person.name) if about in each.text]
        reports.append(await forget(town.app, person.id, DeletionRequest(ids=(seen.id,))))

    assert [each.was_in_group for each in reports] == [False, True, True]
    assert [KEPT_IN_GROUP in list_remarks(each, has_files=True) for each in reports] == [
        False,
        True,
        True,
    ]


async def test_group_sender_with_a_taken_name_gets_a_distinct_speaker(town: Town) -> None:
    """Names are free on a platform."""
    await town.says(replace(EVE, name="Ben"), "I moved to Rome.", FAMILY)
    await town.says(BEN, "I moved to Porto.", FAMILY)

    assert [m.speaker for m in await town.log_of(GROUP)] == ["Ben (telegram 9)", "Ben"]


async def test_private_facts_are_never_told_in_a_group_but_group_facts_in_private(
    town: Town,
) -> None:
    """The reverse is: what was said in the group is known to its members when they are alone."""
    await town.says(BEN, "My blood group is zero negative.")
    await town.says(ANA, "The alarm code of the house is 4711.")
    await town.answer()
    await town.says(EVE, "My ferry to Dublin leaves at noon.", FAMILY)
    in_group = [
        await town.asks(BEN, "What is my blood group?"),
        await town.asks(ANA, "What is the alarm code of the house?"),
        await town.asks(EVE, "What do you know about Ben?"),
    ]
    ferry = await town.asks(BEN, "When does the ferry to Dublin leave?")
    await town.says(ANA, "When does the ferry to Dublin leave?")
    alone = await town.answer()
    await town.says(BEN, "What is my blood group?")
    own = await town.answer()

    assert not any("negative" in each or "4711" in each for each in in_group)
    assert "leaves at noon" in ferry
    assert "leaves at noon" in alone
    assert "zero negative" in own


async def test_facts_of_one_group_are_not_told_in_another(town: Town) -> None:
    """Also where somebody is in both."""
    await town.says(ANA, "/allow", WORK, is_addressed=True)
    await town.says(BEN, "The merger is called Bluebird.", WORK)
    told = await town.asks(ANA, "What is the merger called?", FAMILY)
    known = await town.asks(ANA, "What is the merger called?", WORK)

    assert "Bluebird" not in told
    assert "Bluebird" in known


async def test_group_message_is_answered_only_if_addressed_to_the_companion(town: Town) -> None:
    """What goes on at once from what was said to it belongs to it; another's words do not."""
    await town.says(BEN, "who brings the cake?", FAMILY)
    async with town.app.db.begin_read() as tx:
        assert not [
            each for each in await list_jobs(tx, is_dead_letter=False) if each.queue == "inbox"
        ]
    answer = await town.asks(EVE, "remember that the cake is vegan")
    family = await town.log_of(GROUP)

    assert answer
    assert [(m.role, m.turn is None) for m in family] == [
        ("other", True),
        ("other", False),
        ("companion", False),
    ]
    async with town.app.db.begin_read() as tx:
        (part,) = [e for e in await list_jobs(tx, is_dead_letter=False) if e.queue == "outbox"]
        notes = await tx.rows("SELECT 1 FROM memory WHERE kind = 'note'")
    assert part.payload["address"] == "-100"
    assert notes == []  # nothing is noted for somebody who is one of several


async def test_group_beliefs_are_kept_in_group_and_author_memories_only(town: Town) -> None:
    """In the group a fact is Ben's; in Ben's own memory it is his; Ana's private facts are not."""
    await town.says(ANA, "I work as a nurse.")
    await town.answer()
    for words in ("I live in Porto.", "I am allergic to peanuts.", "I play the cello."):
        await town.says(BEN, words, FAMILY)
    async with town.app.db.begin_read() as tx:
        people = {each.name: each for each in await list_people(tx)}
    for person in people.values():
        await learn_now(town.app, person.id, cut_reason="asked")
    beliefs: dict[str, str] = {}
    async with town.app.db.begin_read() as tx:
        for name, person in people.items():
            rows = await tx.rows(
                "SELECT subject, text FROM memory WHERE person = :id AND ended_at IS NULL",
                id=person.id,
            )
            beliefs[name] = " ".join(f"{subject}: {text}" for subject, text in rows)

    assert "person: " not in beliefs[GROUP]
    assert "Porto" in beliefs[GROUP]
    assert "nurse" not in beliefs[GROUP]
    assert "Porto" in beliefs["Ben"]
    assert "nurse" in beliefs["owner"]


async def test_group_topics_are_separate_chats_with_a_shared_memory(town: Town) -> None:
    """Each has its lane and gets its answers; they share what the group knows."""
    await town.says(EVE, "My oven goes to 300 degrees.", CAKES)
    told = await town.asks(BEN, "How hot does the oven go?", FAMILY)
    await town.asks(BEN, "How hot does the oven go?", CAKES)
    async with town.app.db.begin_read() as tx:
        parts = [
            each for each in await list_jobs(tx, is_dead_letter=False) if each.queue == "outbox"
        ]

    assert "300" in told
    assert sorted(str(each.payload["address"]) for each in parts) == ["-100", "-100/5"]
    assert len({each.partition for each in parts}) == 2


async def test_edits_replies_and_reactions_in_a_group(town: Town) -> None:
    """An edit counts for everybody; calling it only then is answered as well."""
    await town.says(BEN, "Cake at five.", FAMILY, external_id="message:-100:50")
    await town.says(BEN, "Cake at six.", FAMILY, external_id="message:-100:50", is_edit=True)
    await town.says(ANA, "Fine.", FAMILY, replies_to="message:-100:50")
    await town.says(
        EVE,
        "Oh?",
        FAMILY,
        replies_to="message:-100:3",
        quoted_text="Bring tea.",
        quoted_from="Uncle Bo",
    )
    reaction = Reaction(
        chat_ref=FAMILY,
        sender=EVE,
        external_id="update:9",
        target_external_id="message:-100:50",
        at=town.app.clock(),
        emoji="+",
    )
    await town.happens(reaction)
    await town.happens(reaction)
    cake, fine, oh, plus = await town.log_of(GROUP)
    (own, *_) = await town.log_of("Ben")

    assert (cake.text, cake.version, own.text, own.version) == ("Cake at six.", 2) * 2
    assert fine.details == {"replies_to": cake.id}
    assert oh.details == {"quoted": "Bring tea.", "quoted_from": "Uncle Bo"}
    assert (plus.text, plus.details, plus.speaker) == ("[+]", {"reacts_to": cake.id}, "Eve")
    await town.says(
        BEN,
        "Cake at six, Oldfriend?",
        FAMILY,
        external_id="message:-100:50",
        is_edit=True,
        is_addressed=True,
    )
    assert await town.answer()


async def test_member_who_left_receives_no_further_group_messages(town: Town) -> None:
    """And whoever comes in is told from then on; what they had heard stays theirs."""
    await town.happens(MembershipChange(chat_ref=FAMILY, members=(BEN, EVE), has_joined=True))
    assert await town.members() == ["Ben", "owner"]
    await town.says(EVE, "one", FAMILY)
    await town.happens(MembershipChange(chat_ref=FAMILY, members=(BEN,), has_joined=False))
    await town.says(EVE, "two", CAKES)
    await town.happens(MembershipChange(chat_ref=FAMILY, members=(BEN,), has_joined=True))
    await town.says(EVE, "three", FAMILY)

    assert [m.text for m in await town.log_of("Ben")] == ["one", "three"]
    assert [m.text for m in await town.log_of(GROUP)] == ["one", "two", "three"]
    async with town.app.db.begin_read() as tx:
        ben = await find_person(tx, "Ben")
    assert ben is not None
    await unlink_channel(town.app.db, ben, "telegram")
    await town.says(EVE, "four", FAMILY)
    assert [m.text for m in await town.log_of("Ben")] == ["one", "three"]


async def test_moved_group_stays_the_same_and_removal_blocks_all_topics(town: Town) -> None:
    """It is the same group at its new address; put out of it, nothing is sent to any topic."""
    await town.says(BEN, "I moved to Porto.", FAMILY)
    await town.happens(ChatMoved(channel="telegram", old_address="-100", new_address="-1009"))
    moved = replace(FAMILY, address="-1009")
    await town.says(BEN, "It is nice here.", moved)
    assert [m.text for m in await town.log_of(GROUP)] == ["I moved to Porto.", "It is nice here."]
    await town.happens(ChatAvailability(chat_ref=moved, is_available=False))
    async with town.app.db.begin_read() as tx:
        assert await find_block_reason(tx, "telegram", "-1009/5") is not None
    await town.says(BEN, "Are you back?", moved)
    async with town.app.db.begin_read() as tx:
        assert await find_block_reason(tx, "telegram", "-1009/5") is None


async def test_link_code_for_a_group_is_refused(town: Town) -> None:
    """A code for one would open all that it knows to whoever shows it."""
    with pytest.raises(InvalidInput, match="is a group"):
        await create_code(town.app.db, town.app.clock, town.app.settings, GROUP)
    wrote = await town.says(BEN, "654321", FAMILY, is_addressed=True)

    assert wrote is None
    assert [m.text for m in await town.log_of(GROUP)] == ["654321"]


async def test_duplicate_group_message_is_stored_once_for_everybody(town: Town) -> None:
    """By everybody."""
    for _ in range(2):
        await town.says(BEN, "Cake at five.", FAMILY, external_id="message:-100:60")

    assert len(await town.log_of(GROUP)) == len(await town.log_of("Ben")) == 1


async def test_debounced_group_burst_contains_only_one_senders_messages(
    app: AppContext, clock: FrozenClock
) -> None:
    """Who goes on within two seconds means it, too; another's words are their own."""
    town = Town(replace(app, channels={"telegram": Platform(debounce_s=2.0)}), clock)
    _, code = await create_code(app.db, app.clock, app.settings, None)
    await town.says(ANA, code)
    await town.says(ANA, "/allow", FAMILY, is_addressed=True)
    await town.says(BEN, "Oldfriend, listen.", FAMILY, is_addressed=True)
    clock.tick(seconds=-4)
    await town.says(BEN, "I like rain.", FAMILY)
    clock.tick(seconds=-5)
    await town.says(EVE, "Oldfriend, hello.", FAMILY, is_addressed=True)
    listen, rain, hello = await town.log_of(GROUP)

    assert listen.turn == rain.turn
    assert hello.turn not in {None, listen.turn}


async def test_group_prompt_contains_no_private_messages_or_beliefs(town: Town) -> None:
    """Who asks stands before their words; of private talk nothing is in what it is told."""
    await town.says(BEN, "My blood group is zero negative, and I am allergic to peanuts.")
    await town.says(ANA, "Ben seems tired.")
    await town.answer()
    await town.says(EVE, "My ferry to Dublin leaves at noon.", FAMILY)
    await town.says(EVE, "Peanuts cure everything.", FAMILY, is_own_words=False)
    model = ScriptedModel(["At noon."])
    plain, town.app = town.app, with_model(town.app, model)
    await town.asks(BEN, "What do you know about me, and when does the ferry leave?")
    town.app = plain
    (request,) = model.requests
    told = "\n".join(
        [request.system_prompt, request.call_instructions, *(turn.text for turn in request.turns)]
    )

    assert request.turns[-1].text == (
        "Ben: What do you know about me, and when does the ferry leave?"
    )
    assert "You are in a group of several people, Family (group)." in told
    assert "class other] My ferry to Dublin leaves at noon." in told
    assert "class outside] Peanuts cure everything." in told
    assert "negative" not in told
    assert "allergic" not in told
    assert "tired" not in told


async def test_group_search_tool_finds_only_messages_of_that_group(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it asks for: private talk and other groups have memories of their own."""

    async def misses(*_: object, **__: object) -> RecallResult:
        return EMPTY_RECALL

    monkeypatch.setattr(reply_context, "recall_in_full", misses)
    await town.says(BEN, "My blood group is zero negative, and I am allergic to peanuts.")
    await town.answer()
    await town.says(ANA, "Peanuts are for the Monday meeting.", WORK)
    await town.says(EVE, "My ferry to Dublin leaves at noon.", FAMILY)
    searches: list[dict[str, JsonValue]] = [
        {"query": "allergic to peanuts", "about": "Ben"},
        {"from_date": "2023", "said_by": "person"},
        {"query": "ferry to Dublin", "said_by": "Eve"},
    ]
    calls = [
        ToolCall(id=f"c{n}", name="search_memory", arguments=each)
        for n, each in enumerate(searches)
    ]
    model = ScriptedModel([ScriptedReply(calls=tuple(calls)), "At noon."])
    plain, town.app = town.app, with_model(town.app, model)
    for _ in range(12):  # so that the ferry is out of view
        await town.says(EVE, "word " * 400, FAMILY)
    await town.asks(BEN, "What do you know about me?")
    town.app = plain
    results = [turn.text for turn in model.requests[1].turns if isinstance(turn, ToolResult)]

    assert "My ferry to Dublin leaves at noon." in results[2]
    assert not any(
        word in result for result in results for word in ("negative", "allergic", "Monday")
    )


async def test_an_album_is_one_message_for_everybody(town: Town) -> None:
    """It is answered where any of its words are said to us."""
    await town.says(BEN, "[photo]", FAMILY, is_readable=False, album_id="x")
    await town.says(BEN, "The boat.", FAMILY, album_id="x")
    await town.says(BEN, "Hey Oldfriend, remember it.", FAMILY, album_id="x", is_addressed=True)
    logs = [[m.text for m in await town.log_of(name)][-2:] for name in (GROUP, "Ben")]
    reply = await town.answer()

    assert logs[0] == ["The boat.", "The boat.\nHey Oldfriend, remember it."]
    assert logs[1][-1] == "The boat.\nHey Oldfriend, remember it."
    assert reply


async def test_late_group_album_caption_is_appended_to_the_same_message(town: Town) -> None:
    """Those that were said to us are not lost to those that come late."""
    await town.says(BEN, "[photo]", FAMILY, is_readable=False, album_id="x")
    await town.says(
        BEN, "Hey Oldfriend, this is the boat.", FAMILY, album_id="x", is_addressed=True
    )
    for _ in range(ALBUM_WINDOW - 1):
        await town.says(BEN, "And then?", FAMILY)
    await town.says(BEN, "At noon.", FAMILY, album_id="x")
    texts = [m.text for m in await town.log_of(GROUP)]

    assert "Hey Oldfriend, this is the boat.\nAt noon." in texts
    assert "At noon." not in texts


async def says_aloud(town: Town, sender: Sender, file: str) -> str:
    """Somebody sends a recording to the family that nobody hears; its key."""
    await town.says(sender, "[voice]", FAMILY, is_readable=False, details={RECORDING_KEY: file})
    return f"message:-100:{town.number}"


@pytest.mark.slow
async def test_retry_request_selects_the_replied_or_own_last_recording(town: Town) -> None:
    """Of others none; without a reply one's own last, however it is called."""
    await says_aloud(town, ANA, "anas")
    bens = await says_aloud(town, BEN, "bens")
    await says_aloud(town, ANA, "anas last")
    (first,) = [
        each for each in await town.log_of(GROUP) if each.details.get(RECORDING_KEY) == "anas"
    ]
    assert first.external_id is not None
    meant = []
    for text, replies_to in ((", again!", None), ("again", bens), ("again", first.external_id)):
        await town.asks(ANA, text, replies_to=replies_to)
        said = [each for each in await town.log_of(GROUP) if each.role == "other"]
        meant.append(said[-1].details.get(RECORDING_KEY))

    assert meant == ["anas last", None, "anas"]


async def test_group_transcript_schedules_an_embedding_job(town: Town) -> None:
    """No turn of theirs sees to that."""
    await says_aloud(town, BEN, "bens")
    (sound,) = [each for each in await town.log_of(GROUP) if RECORDING_KEY in each.details]
    await town.says(ANA, "What did he say?", FAMILY, is_addressed=True)
    await work(town.app)
    assert await planned(town.app, EMBED_JOB) == []
    async with town.app.db.begin_write() as tx:
        held = await claim_jobs(tx, "inbox", owner="test", now=town.app.clock(), lease_s=30.0)
    assert held is not None
    await write_transcript(
        town.app,
        sound,
        TranscribedAudio(text="I have a boat.", language="en", seconds=2.0, audio=None),
        lease=held,
    )

    assert [each.text for each in await town.log_of("owner")][-2] == "I have a boat."
    assert len(await planned(town.app, EMBED_JOB)) == 1
