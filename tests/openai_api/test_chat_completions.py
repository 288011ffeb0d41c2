"""Chat front ends talk with the companion through OpenAI's own client."""

import asyncio
import hashlib
import json
from dataclasses import replace

import httpx
import openai
import pytest
from openai.types.chat import ChatCompletionMessageParam

from oldfriend.domain.errors import ModelUnavailable
from oldfriend.forgetting.delete import forget
from oldfriend.llm.scripted import ScriptedReply
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.message_log import update_message_keys
from oldfriend.memory.receipts import find_receipt
from tests.chat_fixtures import Say
from tests.mcp_server.conftest import person_called
from tests.openai_api.conftest import Open

MISO = "My cat is called Miso."
WHICH = "What is my cat called?"
PIG = "My guinea pig is called Mo."


def user(text: str) -> ChatCompletionMessageParam:
    """What the person says."""
    return {"role": "user", "content": text}


def assistant(text: str | None) -> ChatCompletionMessageParam:
    """What the assistant is said to have said."""
    return {"role": "assistant", "content": text}


async def ask(client: openai.AsyncOpenAI, *messages: ChatCompletionMessageParam, **more: object):
    """A whole reply to a conversation."""
    options = {"model": "oldfriend", **more}
    return await client.chat.completions.create(messages=messages, **options)  # type: ignore[call-overload]


async def test_a_front_end_talks_with_the_memory(open_house: Open, say: Say) -> None:
    """What was said on another channel is known, and what is said here is kept, with a receipt."""
    house = await open_house()
    await say(MISO)
    client = await house.client()

    reply = await ask(client, user(WHICH))

    assert "Miso" in reply.choices[0].message.content
    assert reply.choices[0].finish_reason == "stop"
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens > 0
    last = (await house.log())[-1]
    assert (last.channel, last.text) == ("openai", reply.choices[0].message.content)
    async with house.app.db.begin_read() as tx:
        receipt = await find_receipt(tx, last.person, reply.id.removeprefix("chatcmpl-"))
    assert receipt is not None
    assert receipt.replied == last.id


async def test_only_what_is_new_is_logged(open_house: Open) -> None:
    """The whole conversation is sent again with each request."""
    house = await open_house(["First.", "Second.", "Third."])
    client = await house.client()
    conversation = [user("I moved to Lisbon.")]
    for text in ("My sister is Ana.", "I work at a bakery."):
        reply = await ask(client, *conversation)
        conversation += [assistant(reply.choices[0].message.content), user(text)]
    await ask(client, *conversation)

    assert await house.said() == ["I moved to Lisbon.", "My sister is Ana.", "I work at a bakery."]


async def test_what_the_assistant_is_said_to_have_said_is_not_kept(open_house: Open) -> None:
    """A program may send anything as history; it is neither logged nor learned from."""
    house = await open_house(["Good."])
    client = await house.client()

    await ask(
        client,
        user("Where do I live?"),
        assistant("You live in Paris with your dog Rex."),
        user("I like tea."),
    )

    log = await house.log()
    assert [each.text for each in log] == ["I like tea.", "Good."]


async def test_a_conversation_that_began_with_another_model_goes_on_here(open_house: Open) -> None:
    """Where the program names it, what the person said before is kept, once, and known."""
    house = await open_house()
    client = await house.client(default_headers={"x-conversation-id": "begun elsewhere"})
    said = [user(PIG), assistant("Nice name! And it lives in Rome.")]
    said += [user("What is my guinea pig called?")]

    first = await ask(client, *said)
    said += [assistant(first.choices[0].message.content), user("I like tea.")]
    await ask(client, *said)

    assert "Mo" in first.choices[0].message.content
    assert await house.said() == [
        "My guinea pig is called Mo.",
        "What is my guinea pig called?",
        "I like tea.",
    ]
    assert not any("Rome" in each.text for each in await house.log())


@pytest.mark.parametrize("headers", [{}, {"idempotency-key": "one"}], ids=["plain", "idempotent"])
async def test_what_was_forgotten_does_not_come_back_with_a_conversation(
    open_house: Open, headers: dict[str, str]
) -> None:
    """Neither with the one in which it was said, nor with another that holds its words."""
    house = await open_house()
    client = await house.client()
    named = {"x-conversation-id": "a"}
    first = await ask(client, user(PIG), extra_headers=named | headers)
    owner = await person_called(house.app, None)
    await forget(house.app, owner.id, DeletionRequest(everything=True))
    said = [user(PIG), assistant(first.choices[0].message.content), user("I like tea.")]
    await ask(client, *said, extra_headers=named)
    await ask(client, *said[:2], user("I like figs."), extra_headers={"x-conversation-id": "b"})

    assert await house.said() == ["I like tea.", "I like figs."]


async def test_another_reply_replaces_the_first(open_house: Open) -> None:
    """A regeneration is not said twice; the reply becomes another version."""
    house = await open_house(["Nice!", "Lovely, both of them."])
    client = await house.client()

    first = await ask(client, user("I have two cats."))
    second = await ask(client, user("I have two cats."))

    assert first.choices[0].message.content == "Nice!"
    assert second.choices[0].message.content == "Lovely, both of them."
    log = await house.log()
    assert [(each.text, each.version) for each in log] == [
        ("I have two cats.", 1),
        ("Lovely, both of them.", 2),
    ]
    async with house.app.db.begin_read() as tx:
        receipt = await find_receipt(tx, log[0].person, log[1].id)
    assert receipt is not None


async def test_what_a_model_cites_reaches_no_front_end(open_house: Open, say: Say) -> None:
    """Neither whole nor streamed nor as another reply; the receipt knows it."""
    await say(MISO)
    house = await open_house(
        ["He purrs.\nUSED_MEMORY: r1", "Miso [r1].\nUSED_MEM", "That one (r1)."]
    )
    client = await house.client()

    whole = await ask(client, user(WHICH))
    assert whole.choices[0].message.content == "He purrs."
    again = await ask(client, user(WHICH), stream=True)
    pieces = [each.choices[0].delta.content or "" async for each in again if each.choices]
    assert "".join(pieces) == "Miso."
    third = await ask(client, user(WHICH))

    log = await house.log()
    assert third.choices[0].message.content == log[-1].text == "That one."
    async with house.app.db.begin_read() as tx:
        receipt = await find_receipt(tx, log[-1].person, log[-1].id)
    assert receipt is not None
    assert (receipt.details["cited"], receipt.details["cited_by"]) == ([log[0].id], "model")


async def test_an_edit_replaces_what_was_said(open_house: Open) -> None:
    """Said after the same words of ours, it is the same message in other words."""
    house = await open_house(["Hello!", "A dog.", "A cat, then."])
    client = await house.client()
    await ask(client, user("Good morning to you."))
    before = [user("Good morning to you."), assistant("Hello!")]

    await ask(client, *before, user("I have a dog."))
    edited = await ask(client, *before, user("I have a cat."))

    assert edited.choices[0].message.content == "A cat, then."
    assert [(each.text, each.version) for each in await house.log()] == [
        ("Good morning to you.", 1),
        ("Hello!", 1),
        ("I have a cat.", 2),
        ("A cat, then.", 2),
    ]


async def test_two_conversations_that_begin_alike_edit_nothing(open_house: Open, clock) -> None:
    """Without a name of the conversation, later words after the same greeting are said anew."""
    house = await open_house(["Hello!", "A dog.", "Hello!", "A cat."])
    client = await house.client()
    before = [user("Hi"), assistant("Hello!")]
    await ask(client, user("Hi"))
    await ask(client, *before, user("I have a dog."))
    clock.tick(minutes=180)
    await ask(client, user("Hi"))

    await ask(client, *before, user("I have a cat."))

    assert await house.said() == ["Hi", "I have a dog.", "Hi", "I have a cat."]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I have a dog.", "My brother is called Tom."),
        ("Ich mag Pflaumen.", "Morgen fahre ich nach Köln."),
        ("我有一只狗。", "我哥哥叫汤姆。"),
    ],
)
async def test_two_conversations_at_once_that_begin_alike_edit_nothing(
    open_house: Open, one: str, other: str
) -> None:
    """Without a name, what is said within minutes is an edit only if it is alike."""
    house = await open_house(["Hello!", "I see.", "Really?"])
    client = await house.client()
    before = [user("Hi"), assistant("Hello!")]
    await ask(client, user("Hi"))

    await ask(client, *before, user(one))
    await ask(client, *before, user(other))

    assert await house.said() == ["Hi", one, other]


async def test_only_the_last_words_of_a_conversation_are_edited(open_house: Open, clock) -> None:
    """By its name they are found hours later, too; older ones are not overwritten."""
    house = await open_house(["Hello!", "One.", "Yes?", "Two.", "Three.", "Four."])
    named = {"extra_headers": {"x-conversation-id": "a"}}
    client = await house.client()
    start = [user("Hi"), assistant("Hello!")]
    more = [*start, user("I like tea."), assistant("One.")]
    await ask(client, user("Hi"), **named)
    await ask(client, *start, user("I like tea."), **named)
    await ask(client, user("Something else entirely."))
    await ask(client, *more, user("And rain."), **named)
    clock.tick(minutes=180)

    await ask(client, *more, user("And snow."), **named)
    await ask(client, *start, user("I like beer."), **named)

    said = ["Hi", "I like tea.", "Something else entirely.", "And snow.", "I like beer."]
    assert await house.said() == said


async def test_a_reminder_asked_for_again_is_set_again(open_house: Open, clock) -> None:
    """A request that something was done for is not answered from the log, unless it is a retry."""
    house = await open_house()
    client = await house.client()
    again = {"x-stainless-retry-count": "1"}
    words = user("Remind me in 1 minute to turn the oven off.")

    await ask(client, words)
    await ask(client, words, extra_headers=again)
    clock.tick(minutes=5)
    await ask(client, words)

    assert len(await house.said()) == 2


async def test_another_reply_keeps_what_the_first_has_done(open_house: Open) -> None:
    """It would say nothing of the reminder, which stays."""
    house = await open_house(["Of course.", "What?"])
    named = {"extra_headers": {"x-conversation-id": "a"}}
    client = await house.client()
    start = [user("Hi"), assistant("Of course.")]
    await ask(client, user("Hi"), **named)
    words = user("Remind me tomorrow at 8 to water the plants.")
    house.model.answers = ["Good.", "I have done nothing."]

    first = await ask(client, *start, words, **named)
    second = await ask(client, *start, words, **named)

    assert "plants" in first.choices[0].message.content
    assert second.choices[0].message.content == first.choices[0].message.content


async def test_the_reply_to_an_edit_tells_what_the_edit_has_done(open_house: Open) -> None:
    """A reminder that is moved is not said to be untouched, and nothing is said twice."""
    house = await open_house(["Hello!", "I will remind you.", "I have changed nothing."])
    named = {"extra_headers": {"x-conversation-id": "a"}}
    client = await house.client()
    start = [user("Hi"), assistant("Hello!")]
    await ask(client, user("Hi"), **named)
    await ask(client, *start, user("Remind me tomorrow at 8 to water the plants."), **named)

    edited = await ask(
        client, *start, user("Remind me tomorrow at 9 to water the plants."), **named
    )

    told = edited.choices[0].message.content
    assert "9" in told
    assert "plants" in told
    log = await house.log()
    assert [each.role for each in log] == ["person", "companion"] * 2
    assert log[-1].text == told


async def test_examples_before_every_request_are_no_conversation(open_house: Open) -> None:
    """A program that sends the same examples each time does not edit what was said before."""
    house = await open_house(["One.", "Two."])
    client = await house.client()
    examples = [user("2+2?"), assistant("4")]

    await ask(client, *examples, user("I was born in May."))
    await ask(client, *examples, user("My brother is Tom."))

    assert await house.said() == ["I was born in May.", "My brother is Tom."]


async def test_a_request_sent_again_gets_the_same_reply(open_house: Open) -> None:
    """With a key of its own, or by a client that had no response."""
    house = await open_house(["One.", "Two.", "Three."])
    client = await house.client()
    key = {"Idempotency-Key": "k-12345678"}
    again = {"x-stainless-retry-count": "1"}

    first = await ask(client, user("I like rain."), extra_headers=key)
    second = await ask(client, user("I like rain."), extra_headers=key)
    third = await ask(client, user("I like snow."))
    fourth = await ask(client, user("I like snow."), extra_headers=again)
    with pytest.raises(openai.UnprocessableEntityError, match="different request"):
        await ask(client, user("I like fog."), extra_headers=key)

    assert first.choices[0].message.content == second.choices[0].message.content == "One."
    assert third.choices[0].message.content == fourth.choices[0].message.content == "Two."
    assert await house.said() == ["I like rain.", "I like snow."]


def former_key(before: str, *texts: str) -> str:
    """A key as it was made without a secret."""
    return hashlib.sha256(json.dumps([before, *texts]).encode()).hexdigest()[:32]


async def test_messages_of_before_keys_had_a_secret_are_known_again(open_house: Open) -> None:
    """By the key of the request and by what was said, which is kept under new keys then."""
    house = await open_house(["One.", "Two.", "Other two.", "Never."])
    client = await house.client()
    key = {"Idempotency-Key": "k-12345678"}
    rain, snow = user("I like rain."), user("I like snow.")
    talk = [rain, assistant("One."), snow]
    await ask(client, rain, extra_headers=key)
    await ask(client, *talk)
    first = former_key("", "user", "I like rain.")
    follows = former_key(first, "assistant", "One.")
    old = [former_key("idempotency", "k-12345678"), former_key(follows, "user", "I like snow.")]
    said = [each for each in await house.log() if each.role == "person"]
    async with house.app.db.begin_write() as tx:
        for each, external_id in zip(said, old, strict=True):
            details = {**each.details, **({"follows": follows} if each is said[1] else {})}
            await update_message_keys(tx, replace(each, external_id=external_id, details=details))

    again = await ask(client, rain, extra_headers=key)
    other = await ask(client, *talk)

    assert again.choices[0].message.content == "One."
    assert other.choices[0].message.content == "Other two."
    assert await house.said() == ["I like rain.", "I like snow."]
    kept = [each for each in await house.log() if each.role == "person"]
    assert [(each.external_id, each.details) for each in kept] == [
        (each.external_id, each.details) for each in said
    ]


async def test_the_same_request_twice_at_once_is_said_once(open_house: Open) -> None:
    """Both get the reply."""
    house = await open_house(lambda _: ScriptedReply(text="Yes.", delay_s=0.3))
    client = await house.client()

    async with asyncio.TaskGroup() as group:
        both = [group.create_task(ask(client, user("I like both."))) for _ in range(2)]

    assert [each.result().choices[0].message.content for each in both] == ["Yes.", "Yes."]
    assert await house.said() == ["I like both."]


async def test_a_greeting_in_another_conversation_is_said_again(open_house: Open, clock) -> None:
    """The same first words, later, open another conversation."""
    house = await open_house(["Hi.", "Hi again."])
    client = await house.client()

    await ask(client, user("Hello there!"))
    clock.tick(minutes=45)
    await ask(client, user("Hello there!"))

    assert await house.said() == ["Hello there!", "Hello there!"]


async def test_a_reply_is_streamed(open_house: Open) -> None:
    """Piece by piece, with its usage where it is wanted."""
    house = await open_house([ScriptedReply(text="A long and winding reply.", chunk_delay_s=0.02)])
    client = await house.client()

    stream = await ask(
        client, user("Tell me."), stream=True, stream_options={"include_usage": True}
    )
    chunks = [chunk async for chunk in stream]

    pieces = [
        c.choices[0].delta.content for c in chunks if c.choices and c.choices[0].delta.content
    ]
    assert "".join(pieces) == "A long and winding reply."
    assert len(pieces) > 1
    assert chunks[0].choices[0].delta.role == "assistant"
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-1].usage.total_tokens > 0
    assert len({each.id for each in chunks}) == 1
    assert [each.role for each in await house.log()] == ["person", "companion"]


async def test_a_stream_is_kept_alive(open_house: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the model has not said a word."""
    monkeypatch.setattr("oldfriend.openai_api.reply_response.KEEP_ALIVE_S", 0.05)
    house = await open_house([ScriptedReply(text="At last.", delay_s=0.4)])
    headers = {"Authorization": f"Bearer {await house.token()}"}
    body = {"model": "oldfriend", "messages": [user("Well?")], "stream": True}
    async with httpx.AsyncClient(trust_env=False, headers=headers) as http:
        response = await http.post(f"{house.origin}/v1/chat/completions", json=body)

    assert ": keep-alive\n\n" in response.text
    assert response.text.endswith("data: [DONE]\n\n")
    assert response.headers["content-type"].startswith("text/event-stream")


async def test_nobody_waits_when_the_program_is_gone(open_house: Open) -> None:
    """The turn is stopped; what was said is kept, and sent again it is answered."""
    house = await open_house(
        lambda _: ScriptedReply(text="word " * 200, chunk_size=5, chunk_delay_s=0.05)
    )
    client = await house.client()
    stream = await ask(client, user("Tell me a long story."), stream=True)
    async for chunk in stream:
        if chunk.choices[0].delta.content:
            break
    await stream.close()

    owner = await person_called(house.app, None)
    with house.hub.connect(owner.id) as connection:
        async with asyncio.timeout(10):
            while len(await house.log()) < 2:
                await connection.wait(0.2)
    assert [each.role for each in await house.log()] == ["person", "marker"]
    house.model.answers = ["A short one."]
    again = await ask(client, user("Tell me a long story."))
    assert again.choices[0].message.content == "A short one."
    assert await house.said() == ["Tell me a long story."]


async def test_a_model_that_fails_is_stood_in_for(open_house: Open) -> None:
    """As on every channel, the companion says so and answers from memory."""
    house = await open_house([ModelUnavailable("It is down.")])
    client = await house.client()

    reply = await ask(client, user("I like plums."))

    assert reply.choices[0].message.content
    assert await house.said() == ["I like plums."]


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"messages": [{"role": "user", "content": "x"}]}, "model"),
        ({"model": "gpt-9", "messages": [{"role": "user", "content": "x"}]}, "model"),
        ({"model": "oldfriend"}, "messages"),
        ({"model": "oldfriend", "messages": []}, "messages"),
        ({"model": "oldfriend", "messages": ["x"]}, "messages[0]"),
        (
            {"model": "oldfriend", "messages": [{"role": "king", "content": "x"}]},
            "messages[0].role",
        ),
        ({"model": "oldfriend", "messages": [{"role": "user", "content": 3}]}, None),
        ({"model": "oldfriend", "messages": [{"role": "user", "content": " "}]}, "messages"),
        ({"model": "oldfriend", "messages": [user("x")], "n": 2}, "n"),
        ({"model": "oldfriend", "messages": [user("x")], "tools": {}}, "tools"),
        (
            {
                "model": "oldfriend",
                "messages": [{"role": "user", "content": [{"type": "image_url"}]}],
            },
            "messages",
        ),
    ],
)
async def test_what_cannot_be_read_is_refused_in_openais_format(
    open_house: Open, body: dict, param: str | None
) -> None:
    """With the place, and nothing is logged."""
    house = await open_house()
    headers = {"Authorization": f"Bearer {await house.token()}"}
    async with httpx.AsyncClient(trust_env=False, headers=headers) as http:
        response = await http.post(f"{house.origin}/v1/chat/completions", json=body)

    assert response.status_code in {400, 404}
    error = response.json()["error"]
    assert error["message"]
    assert error["type"] == "invalid_request_error"
    if param is not None:
        assert error["param"] == param
    assert await house.log() == []


@pytest.mark.parametrize("content", [b"", b"[", b"[]", b"[" * 100_000, b"\xff"])
async def test_a_body_that_is_no_json_is_refused(open_house: Open, content: bytes) -> None:
    """Also one that is nested too deep."""
    house = await open_house()
    headers = {"Authorization": f"Bearer {await house.token()}"}
    async with httpx.AsyncClient(trust_env=False, headers=headers) as http:
        response = await http.post(f"{house.origin}/v1/chat/completions", content=content)

    assert response.status_code == 400
    assert response.json()["error"]["type"] == "invalid_request_error"


async def test_nobody_is_served_without_a_valid_token(open_house: Open) -> None:
    """Nor with one that may only read."""
    house = await open_house()

    with pytest.raises(openai.AuthenticationError, match="token new"):
        await ask(await house.client("nonsense"), user("x"))
    with pytest.raises(openai.PermissionDeniedError, match="only read"):
        await ask(await house.client(await house.token(scope="read")), user("x"))
    async with httpx.AsyncClient(trust_env=False) as http:
        bare = await http.post(f"{house.origin}/v1/chat/completions", json={})
        foreign = await http.post(
            f"{house.origin}/v1/chat/completions", json={}, headers={"Origin": "http://evil.test"}
        )

    assert bare.status_code == 401
    assert bare.json()["error"]["code"] == "invalid_api_key"
    assert foreign.status_code == 403


async def test_each_token_opens_its_persons_memory(open_house: Open, say: Say) -> None:
    """Nobody else's."""
    house = await open_house()
    await say(MISO)
    omar = await house.client(await house.token("Omar"))

    reply = await ask(omar, user(WHICH))

    assert "Miso" not in reply.choices[0].message.content
    assert await house.said("Omar") == [WHICH]
    assert await house.said() == [MISO]


async def test_the_models_are_listed(open_house: Open) -> None:
    """Those of a model alone and of one with the memory only where there is a model."""
    offline, online = await open_house(), None
    listed = [each.id async for each in await (await offline.client()).models.list()]
    online = await open_house(["x"])
    client = await online.client()
    more = [each.id async for each in await client.models.list()]
    one = await client.models.retrieve("oldfriend")

    assert listed == ["oldfriend"]
    assert more == ["oldfriend", "oldfriend-plain", "oldfriend-memory"]
    assert one.id == "oldfriend"
    with pytest.raises(openai.NotFoundError, match="There are: oldfriend"):
        await client.models.retrieve("gpt-9")


async def test_an_address_that_is_not_here_is_refused_in_openais_form(open_house: Open) -> None:
    """Such as that of embeddings: clients show what it says."""
    house = await open_house()
    client = await house.client()

    with pytest.raises(openai.NotFoundError) as refused:
        await client.embeddings.create(model="oldfriend", input="Miso")

    assert refused.value.code == "unknown_url"
    assert "/v1/chat/completions" in str(refused.value)


async def test_a_container_calls_this_machine_by_a_name_of_its_own(open_house: Open) -> None:
    """Only where a token counts: the page and its API answer to this machine's names alone."""
    house = await open_house()
    headers = {"Authorization": f"Bearer {await house.token()}", "Host": "host.docker.internal"}
    async with httpx.AsyncClient(base_url=house.origin, trust_env=False, headers=headers) as http:
        models = await http.get("/v1/models")
        tags = await http.get("/api/tags")
        others = [await http.get(path) for path in ("/", "/health", "/api/v1/me", "/api/chat/x")]

    assert (models.status_code, tags.status_code) == (200, 200)
    assert {each.status_code for each in others} == {400}


async def test_what_was_forgotten_stays_forgotten(open_house: Open) -> None:
    """A front end that still has the words sends them again: as history, and for another reply."""
    house = await open_house(["One.", "Two.", "Three."])
    client = await house.client()
    await ask(client, user("My pin is 4711."))
    (said, *_) = await house.log()
    owner = await person_called(house.app, None)
    request = DeletionRequest(ids=(said.id,))
    await forget(house.app, owner.id, request)

    await ask(client, user("My pin is 4711."), assistant("One."), user("I like figs."))
    with pytest.raises(openai.ConflictError, match="forgotten"):
        await ask(client, user("My pin is 4711."))
    with pytest.raises(openai.ConflictError, match="forgotten"):
        await ask(client, user("My pin is 4711."), model="oldfriend-memory")

    assert await house.said() == ["I like figs."]
