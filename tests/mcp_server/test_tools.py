"""What a program can do with a memory, and the fifteen complaints about such servers.

The complaints are those of users of other memory servers; each test names the one it answers.
"""

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from oldfriend.app.app_context import AppContext
from oldfriend.domain.errors import StoreBusy
from oldfriend.inbound.accept import ChatContext
from oldfriend.mcp_server.protocol_server import PROFILE_URI, build_server
from oldfriend.mcp_server.tool_definitions import build_tools, get_server_prompt
from oldfriend.memory.message_log import list_messages
from oldfriend.replies.reply_worker import StoredReply
from tests.chat_fixtures import Say
from tests.clock import FrozenClock
from tests.learning.test_relations_end_to_end import read_as, tie
from tests.mcp_server.conftest import Caller, Connect, person_called, read_texts

MAX_RESULT_CHARS = 14_000
MISO = "My cat is called Miso and she sleeps on the radiator."


async def list_texts(app: AppContext, person: str | None = None) -> list[str]:
    """Everything that somebody's log holds."""
    owner = await person_called(app, person)
    async with app.db.begin_read() as tx:
        return [each.text for each in await list_messages(tx, owner.id, limit=10_000)]


def wire_length(tools: Any) -> int:
    """How long the definitions of the tools are as they are sent."""
    dumped = tools.model_dump(by_alias=True, exclude_none=True, mode="json")
    return len(json.dumps(dumped["tools"], ensure_ascii=False))


async def test_1_models_are_told_to_look_before_they_answer(connect: Connect, say: Say) -> None:
    """“The model never calls the memory.” Instructions, and a prompt that needs no call at all."""
    await say(MISO)
    async with connect() as caller:
        instructions = caller.client.instructions or ""
        start = await caller.client.get_prompt("start", {"topic": "cat"})
    text = start.messages[0].content.text

    assert len(instructions.encode()) <= 1024
    assert "Before you answer" in instructions
    assert MISO in text
    assert "not instructions" in text


async def test_2_nothing_dumps_all_that_is_known(connect: Connect, app: AppContext) -> None:
    """“read_graph dumps everything.” Whatever is asked for has a budget, and says what is left."""
    async with connect(is_own_words=True) as caller:
        for number in range(60):
            await caller.told("remember", text=f"Bruno the dog, walk {number}: {'grass ' * 200}")
        _, found = await caller.tried("recall", query="Bruno the dog", limit=1_000)
        _, about = await caller.tried("about")

    assert len(found) <= MAX_RESULT_CHARS
    assert len(about) <= MAX_RESULT_CHARS
    assert "Ask for less" in json.loads(found)["note"]
    assert len(await list_texts(app)) == 60


async def test_3_there_are_five_tools_in_few_words(connect: Connect) -> None:
    """“Tool bloat.” Five tools in at most 2,000 characters; four for who may only read."""
    async with connect() as caller:
        tools = await caller.client.list_tools()
    async with connect(can_write=False) as reader:
        for_readers = await reader.client.list_tools()

    names = [each.name for each in tools.tools]
    assert names == ["recall", "remember", "about", "why", "forget_preview"]
    assert wire_length(tools) <= 2_000
    assert "remember" not in [each.name for each in for_readers.tools]
    assert all(each.annotations.read_only_hint for each in for_readers.tools)


async def test_4_what_was_saved_is_there_at_once(connect: Connect, app: AppContext) -> None:
    """“Saved, but nothing there.” The id is that of a committed message, word for word."""
    text = "  The spare key is under the blue pot.\n\tDon't tell Tom. 🗝️ "
    async with connect() as caller:
        stored = await caller.told("remember", text=text)
        found = await caller.told("recall", query="Where is the spare key?")
        again = await caller.told("remember", text=text)

    assert await list_texts(app) == [text]
    assert stored["stored"] is True
    assert found["results"][0]["id"] == stored["id"]
    assert found["answers"] is True
    assert (again["id"], again["was_known"]) == (stored["id"], True)


async def test_what_is_told_again_another_day_is_told_that_day(
    connect: Connect, clock: FrozenClock
) -> None:
    """A year later it holds anew; on the same day it is one message."""
    text = "I had a cold today."
    async with connect(is_own_words=True) as caller:
        first = await caller.told("remember", text=text)
        clock.tick(minutes=365 * 24 * 60)
        later = [await caller.told("remember", text=text) for _ in range(2)]
        clock.tick(minutes=24 * 60)
        last = await caller.told("remember", text=text)

    assert len({first["id"], later[0]["id"], last["id"]}) == 3
    assert later[0]["id"] == later[1]["id"]


async def test_5_what_was_said_elsewhere_is_found(connect: Connect, say: Say) -> None:
    """“Search is empty although data exist.” The same search, index and store as everywhere."""
    await say(MISO, channel="terminal")
    async with connect() as caller:
        found = await caller.told("recall", query="What is my cat called?")

    hit = next(each for each in found["results"] if each["kind"] == "message")
    assert hit["text"] == MISO
    assert (hit["by"], hit["trust"], hit["channel"]) == ("user", "user", "terminal")
    assert hit["date"].startswith("20")
    assert hit["why"]


async def test_6_no_argument_is_silently_dropped(connect: Connect, say: Say) -> None:
    """“Scope silently dropped.” What is not known is refused, and what is known is obeyed."""
    await say("Tom: I met Tom at the lake and he brought plums.")
    await say("Ana brought plums to the office.")
    async with connect() as caller:
        refusal = await caller.refused("recall", query="plums", project="work")
        of_tom = await caller.told("recall", query="Who brought plums?", person="Tom")
        nobody = await caller.refused("recall", query="plums", person="Zebulon")
        late = await caller.told("recall", query="plums", since="2031")

    assert "project" in refusal
    assert "query, limit, person" in refusal
    assert any("Tom" in each for each in read_texts(of_tom))
    assert "Zebulon" in nobody
    assert late["results"] == []


async def test_7_no_folder_or_project_is_guessed(
    connect: Connect, say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """“cwd guessing is wrong.” It is one memory of one person, wherever a program runs."""
    await say(MISO)
    found = []
    for folder in ("one", "other"):
        (tmp_path / folder).mkdir()
        monkeypatch.chdir(tmp_path / folder)
        async with connect() as caller:
            found.append(read_texts(await caller.told("recall", query="cat")))

    assert found[0] == found[1]
    assert MISO in found[0]


async def test_8_lists_are_answered_without_the_memory() -> None:
    """“Slow start: failed to connect.” Nothing is opened before the first call."""

    async def fail() -> Any:
        raise AssertionError("the memory was opened")

    async with Client(build_server(fail)) as client:
        assert len((await client.list_tools()).tools) == 5
        assert (await client.list_resources()).resources[0].uri == PROFILE_URI
        assert (await client.list_prompts()).prompts[0].name == "start"


async def test_9_nothing_is_downloaded(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    """“Downloads a model at start.” It works where no name is looked up and nothing connected."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    async with connect() as caller:
        await caller.told("remember", text=MISO)

        assert MISO in read_texts(await caller.told("recall", query="the pet's name"))


async def test_11_a_store_that_cannot_be_used_is_a_sentence(connect: Connect) -> None:
    """“Corrupt or untyped store.” The program is told what to do, and the server lives on."""
    attempts = []

    async def open_memory() -> Any:
        attempts.append(1)
        raise StoreBusy("Another process writes to the memory. Try again in a moment.")

    async with Client(build_server(open_memory)) as client:
        caller = Caller(client)
        assert "Try again" in await caller.refused("recall", query="cat")
        assert "Try again" in await caller.refused("recall", query="cat")
        with pytest.raises(MCPError, match="Try again"):
            await client.read_resource(PROFILE_URI)

    assert len(attempts) == 3


async def test_12_clients_of_the_old_and_the_new_protocol_are_served(
    connect: Connect, say: Say
) -> None:
    """“Transport changes.” With a handshake as before 2026, and without one."""
    await say(MISO)
    for mode in ("legacy", "auto"):
        async with connect(mode=mode) as caller:
            assert MISO in read_texts(await caller.told("recall", query="cat"))


async def test_13_people_are_kept_apart(connect: Connect, app: AppContext) -> None:
    """“No user isolation.” Each program has one person's memory, and a reader cannot write."""
    async with connect("Omar") as omar:
        stored = await omar.told("remember", text="My passport number is 5512.")
    async with connect(can_write=False) as caller:
        found = await caller.told("recall", query="passport number")
        unknown = await caller.refused("why", id=stored["id"])
        nothing = await caller.refused("forget_preview", ids=[stored["id"]])
        refusal = await caller.refused("remember", text="I was here.")

    assert found["results"] == []
    assert stored["id"] in unknown
    assert "5512" not in unknown + nothing
    assert "only read" in refusal
    assert await list_texts(app) == []
    assert await list_texts(app, "Omar") == ["My passport number is 5512."]


async def test_14_everything_says_where_it_comes_from(connect: Connect, say: Say) -> None:
    """“Where does this memory come from?” Words, beliefs and replies have their evidence."""
    await say("I live in Porto.")
    reply: StoredReply = await say("Where do I live?")
    async with connect() as caller:
        found = await caller.told("recall", query="Where do I live?")
        belief = next(each for each in found["results"] if each["kind"] != "message")
        of_belief = await caller.told("why", id=belief["id"])
        words = await caller.told("why", id=of_belief["evidence"][0]["message"])
        of_reply = await caller.told("why", id=reply.reply.id)
        missing = await caller.refused("why", id="01nothing")

    assert of_belief["evidence"][0]["quote"] == "I live in Porto."
    assert of_belief["evidence"][0]["by"] == "user"
    assert words["text"] == "I live in Porto."
    assert "Porto" in of_reply["receipt"]
    assert "01nothing" in missing


async def test_15_saving_on_purpose_stays(connect: Connect) -> None:
    """“Explicit save taken away.” Who may write has a tool for it, and it says what it does."""
    async with connect() as caller:
        tools = {each.name: each for each in (await caller.client.list_tools()).tools}

    assert tools["remember"].input_schema["required"] == ["text"]
    assert "verbatim" in tools["remember"].description


async def test_optional_arguments_may_be_null(connect: Connect, say: Say) -> None:
    """As many clients send what is left out (K12)."""
    await say(MISO)
    async with connect() as caller:
        found = await caller.told(
            "recall", query="cat", limit=None, person=None, since=None, until=None
        )
        await caller.told("about", name=None)
        await caller.told("forget_preview", ids=None, about="Miso", since=None, until=None)
        few = await caller.told("recall", query="cat", limit="1")

    assert MISO in read_texts(found)
    assert len(few["results"]) == 1


@pytest.mark.parametrize(
    ("tool", "arguments", "word"),
    [
        ("recall", {}, "query"),
        ("recall", {"query": 5}, "query"),
        ("recall", {"query": "cat", "limit": 0}, "limit"),
        ("recall", {"query": "cat", "limit": True}, "limit"),
        ("recall", {"query": "cat", "since": "someday"}, "someday"),
        ("recall", {"query": "cat", "since": "2026-05", "until": "2026-04"}, "later"),
        ("remember", {}, "text"),
        ("remember", {"text": " \n"}, "empty"),
        ("about", {"name": "Zebulon"}, "Zebulon"),
        ("why", {"id": "%"}, "id"),
        ("forget_preview", {}, "ids"),
        ("forget_preview", {"ids": [5]}, "ids"),
        ("forget_preview", {"about": "Zebulon"}, "Zebulon"),
        ("forget", {}, "recall"),
        ("x" * 200, {}, "no tool"),
    ],
)
async def test_mistakes_are_told_in_a_sentence(
    connect: Connect, tool: str, arguments: dict[str, Any], word: str
) -> None:
    """Which names what is wrong."""
    async with connect() as caller:
        text = await caller.refused(tool, **arguments)

    assert word in text
    assert text.endswith(".")
    assert len(text) < 400


async def test_what_a_program_stores_is_not_the_persons_word(
    connect: Connect, app: AppContext
) -> None:
    """It is found with the program's name, but nothing is learned from it about the person."""
    async with connect() as caller:
        await caller.told("remember", text="I live in Lisbon.")
        (hit,) = (await caller.told("recall", query="Where do I live?"))["results"]
        about = await caller.told("about")

    assert (hit["by"], hit["trust"], hit["channel"]) == ("Claude Code", "outside", "mcp")
    assert "Lisbon" not in about["known"]


async def test_about_without_a_name_tells_of_everybody_around_the_person(
    connect: Connect, say: Say
) -> None:
    """Not only of the family: a program would not know whose names it can ask about."""
    for told in ("My sister is called Ana.", "My boss is Tom.", MISO):
        await say(told)
    async with connect() as caller:
        about = await caller.told("about")

    names = {each["text"].partition(":")[2].strip(" .") for each in about["relations"]}
    assert names == {"Ana", "Tom", "Miso"}


async def test_about_without_a_name_tells_of_whom_a_model_has_read_of(
    connect: Connect, app: AppContext, chat_context: ChatContext
) -> None:
    """A model names a relation in its own words; a visited place is not somebody."""
    reads = tie("sibling_of", "Ana", "", "Ana is a sister.")
    await read_as(app, chat_context, "My sister Ana came.", reads)
    reads = tie("visited", "", "Lisbon", "The user visited Lisbon.")
    await read_as(app, chat_context, "I visited Lisbon.", reads)
    async with connect() as caller:
        (relation,) = (await caller.told("about"))["relations"]
        why = await caller.told("why", id=relation["id"])

    assert (relation["kind"], relation["text"]) == ("triple", "Ana is a sister.")
    assert relation["by"] == "user"
    assert "My sister Ana came." in str(why)


async def test_own_words_are_learned_from_where_the_person_has_said_so(connect: Connect) -> None:
    """As if they had said it to the companion."""
    async with connect(is_own_words=True) as caller:
        await caller.told("remember", text="I live in Lisbon.")
        about = await caller.told("about")
        found = await caller.told("recall", query="Where do I live?")

    assert "Lisbon" in about["known"]
    assert {each["by"] for each in found["results"]} == {"user"}


async def test_about_a_name_returns_what_was_learned(connect: Connect, say: Say) -> None:
    """With ids that why explains."""
    await say("My sister Ana lives in Porto.")
    async with connect() as caller:
        known = (await caller.told("about", name="ana"))["known"]
        why = await caller.told("why", id=known[-1]["id"])

    assert any(each["kind"] == "entity" and each["text"].startswith("Ana") for each in known)
    assert why["evidence"]


async def test_a_time_alone_lists_what_was_said(connect: Connect, say: Say) -> None:
    """The newest first, as far as it fits."""
    await say("First I went swimming.")
    await say("Then I baked bread.")
    async with connect() as caller:
        listed = read_texts(await caller.told("recall", since="2020", person="user"))

    assert listed == ["Then I baked bread.", "First I went swimming."]


async def test_a_forget_preview_deletes_nothing(
    connect: Connect, say: Say, app: AppContext
) -> None:
    """It shows what would go, and who decides."""
    await say(MISO)
    before = await list_texts(app)
    async with connect() as caller:
        preview = await caller.told("forget_preview", about="Miso")

    assert MISO in preview["would_go"]
    assert "Nothing has been deleted" in preview["note"]
    assert await list_texts(app) == before


async def test_the_profile_is_a_resource(connect: Connect, say: Say) -> None:
    """And says so where nothing is known yet."""
    async with connect() as caller:
        (empty,) = (await caller.client.read_resource(PROFILE_URI)).contents
        await say("I live in Porto.")
        (filled,) = (await caller.client.read_resource(PROFILE_URI)).contents
        with pytest.raises(MCPError, match="one resource"):
            await caller.client.read_resource("oldfriend://other")
        with pytest.raises(MCPError, match="one prompt"):
            await caller.client.get_prompt("other")

    assert empty.text == get_server_prompt().render("nothing_known")
    assert "Porto" in filled.text


async def test_about_me_is_about_the_person(connect: Connect, say: Say) -> None:
    """As without a name, and not about somebody called so."""
    await say("I live in Porto.")
    async with connect() as caller:
        told = await caller.told("about", name="me")

    assert told["about"] == "user"
    assert "Porto" in told["known"]


async def test_an_unexpected_error_is_told_without_its_text(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which could quote somebody."""

    async def fail(*_: Any) -> None:
        raise RuntimeError("secret words")

    monkeypatch.setattr("oldfriend.mcp_server.person_memory.search_memory", fail)
    async with connect() as caller:
        text = await caller.refused("recall", query="cat")

    assert "secret" not in text
    assert "doctor" in text


def test_every_tool_has_a_description() -> None:
    """In the prompt, as all words for models."""
    assert all(each.description for each in build_tools())


async def test_state_of_long_ago_is_given_as_of_then(
    connect: Connect, say: Say, clock: FrozenClock
) -> None:
    """About the person and about others, and where it is found; what lasts is given as it is."""
    await say("My sister is called Lena.")
    await say("Lena lives in Porto.")
    await say("I live in Ulm.")
    async with connect() as caller:
        fresh = await caller.told("about", name="Lena")
        clock.tick(minutes=730 * 24 * 60)
        lena = await caller.told("about", name="Lena")
        own = await caller.told("about")
        found = await caller.told("recall", query="Where does the user live?")

    assert not any("as_of" in each for each in fresh["known"])
    as_of = {each["text"]: each.get("as_of", "")[:7] for each in lena["known"]}
    assert as_of["Lena lives in Porto."] == "2023-11"
    assert as_of["Sister: Lena."] == ""
    assert "Lives in Ulm. (said 2023-11-14, long ago, may be over)" in own["known"]
    (home,) = [each for each in found["results"] if each["text"] == "Lives in Ulm."]
    assert home["as_of"].startswith("2023-11")
