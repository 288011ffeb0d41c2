"""Requests as unmodified front ends send them: Open WebUI 0.12, Home Assistant 2025.4."""

import asyncio
import json
from dataclasses import dataclass, field

import httpx

from oldfriend.inbound.account_linking import create_code
from oldfriend.tasks.task_store import list_tasks
from tests.chat_fixtures import Say
from tests.mcp_server.conftest import person_called
from tests.openai_api.conftest import House, Open

MISO = "My cat is called Miso."
TURNS = (
    MISO,
    "My sister Ana lives in Lisbon.",
    "I work at a bakery.",
    "I like plums.",
    "My brother is called Teo.",
    "I am allergic to hazelnuts.",
    "I play the cello.",
    "I was born in Tartu.",
    "What is my cat called?",
    "Where does Ana live?",
)
BUILT_IN = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": "Offered with every message that somebody types.",
            "parameters": {"type": "object", "properties": {}, "required": []},
        },
    }
    for name in ("get_current_timestamp", "ask_user", "search_chats")
]
"""Offered by Open WebUI with each message that is typed, unless its owner has turned them off."""
TASKS = {
    "title": (2, "Generate a concise title summarizing the chat history."),
    "follow_ups": (5, "Predict 3-5 useful messages this user might naturally send next."),
    "tags": (6, "Generate 1-3 broad tags categorizing the main themes of the chat history."),
}
"""What Open WebUI asks a model for beside the talk, and about how many messages, in its order.

The title is asked for at the same time as the first reply, or before it; the others after a reply.
"""
AFTER_A_REPLY = ("follow_ups", "tags")
TASK_PROMPT = """### Task:
{task}
### Guidelines:
- Use the chat's primary language; default to English if multilingual.
### Output:
JSON format: {{ "{name}": "…" }}
### Chat History:
<chat_history>
{history}
</chat_history>"""
DOCUMENT_PROMPT = """### Task:
Respond to the user query using the provided context.

### Guidelines:
- If you don't know the answer, clearly state that.

<context>
<source id="1" name="pets.pdf">Remind me tomorrow at 8 to feed the parrot.</source>
</context>
"""


@dataclass(slots=True, kw_only=True)
class OpenWebUi:
    """A conversation in Open WebUI, which sends all of it with each request."""

    http: httpx.AsyncClient
    model: str = "oldfriend"
    chat: str = "5d0b6f8c-6cbb-4b0e-9c3c-0d3f0f9a0b6e"
    tools: bool = True
    messages: list[dict[str, object]] = field(default_factory=list)

    async def complete(self, body: dict[str, object]) -> httpx.Response:
        """Send a request with the headers that name the user and the chat."""
        headers = {
            "X-OpenWebUI-User-Name": "Zo%C3%AB M.",
            "X-OpenWebUI-User-Id": "b8f5",
            "X-OpenWebUI-User-Email": "zoe@example.org",
            "X-OpenWebUI-User-Role": "admin",
            "X-OpenWebUI-Chat-Id": self.chat,
        }
        return await self.http.post("/chat/completions", json=body, headers=headers)

    async def say(self, text: str, *, around: str = "") -> str:
        """Type something, with a template of documents around it, and read the streamed reply."""
        self.messages.append({"role": "user", "content": text})
        sent = [*self.messages[:-1], {"role": "user", "content": f"{around}{text}"}]
        reply = await self.stream(sent)
        self.messages.append({"role": "assistant", "content": reply})
        return reply

    async def stream(self, messages: list[dict[str, object]]) -> str:
        """Ask for a reply to messages."""
        body: dict[str, object] = {
            "stream": True,
            "model": self.model,
            "messages": messages,
            "stream_options": {"include_usage": True},
        }
        if self.tools:
            body["tools"] = BUILT_IN
        response = await self.complete(body)
        assert response.status_code == 200, response.text
        *events, last = [
            each.removeprefix("data: ") for each in response.text.splitlines() if "data: " in each
        ]
        chunks = [json.loads(each) for each in events]
        assert last == "[DONE]"
        assert chunks[-1]["usage"]["total_tokens"] > 0
        return "".join(
            choice["delta"].get("content") or "" for each in chunks for choice in each["choices"]
        )

    async def do_tasks(self, *names: str) -> list[int]:
        """Ask for a title, follow-ups or tags."""
        answers = []
        for name in names:
            count, task = TASKS[name]
            history = "\n".join(
                f"{str(each['role']).upper()}: {each['content']}" for each in self.messages[-count:]
            )
            prompt = TASK_PROMPT.format(task=task, name=name, history=history)
            messages = [{"role": "user", "content": prompt}]
            body = {"model": self.model, "messages": messages, "stream": False, "max_tokens": 1_000}
            answers.append((await self.complete(body)).status_code)
        return answers


def connect(house: House, token: str) -> httpx.AsyncClient:
    """A connection of Open WebUI's: the URL with /v1, and the key."""
    return httpx.AsyncClient(
        base_url=f"{house.origin}/v1",
        headers={"Authorization": f"Bearer {token}"},
        trust_env=False,
        timeout=30,
    )


async def test_open_webui_as_it_comes_talks_without_a_model(open_house: Open) -> None:
    """Ten turns with its own tools offered each time, and its tasks: each is kept once."""
    house = await open_house()
    async with connect(house, await house.token()) as http:
        models = [each["id"] for each in (await http.get("/models")).json()["data"]]
        webui = OpenWebUi(http=http)
        replies = [await webui.say(each) for each in TURNS]
        tasks = await webui.do_tasks(*TASKS)

    assert models == ["oldfriend"]
    assert await house.said() == [*TURNS]
    assert "Miso" in replies[-2]
    assert "Lisbon" in replies[-1]
    assert tasks == [400] * 3  # only a model can; Open WebUI goes on without


async def test_open_webui_talks_with_a_model(open_house: Open, say: Say) -> None:
    """Its tools go to the model; documents, pictures and tasks leave nothing behind."""
    house = await open_house(lambda _: "Noted.")
    await say(MISO)
    async with connect(house, await house.token()) as http:
        webui = OpenWebUi(http=http)
        async with asyncio.TaskGroup() as at_once:
            at_once.create_task(webui.say("Who am I?"))
            asked = at_once.create_task(webui.do_tasks("title"))
        await webui.say("What does it eat?", around=DOCUMENT_PROMPT)
        webui.tools = False
        await webui.say("I like plums.")
        again = await webui.stream(webui.messages[:-1])
        tasks = await webui.do_tasks(*AFTER_A_REPLY)
    said = await house.said()
    log = await house.log()

    assert house.model is not None
    offered = [each for each in house.model.requests if each.tools]
    assert {tool.name for tool in offered[0].tools} >= {"ask_user", "search_chats"}
    assert MISO in offered[0].system_prompt
    assert again == "Noted."
    assert asked.result() + tasks == [200] * 3
    assert said == [MISO, "Who am I?", "What does it eat?", "I like plums."]
    assert not any("parrot" in each.text or "concise title" in each.text for each in log)


async def test_open_webui_as_it_comes_sets_reminders_with_a_model(open_house: Open) -> None:
    """Requests to the companion are acted on first; its tools are there for everything else."""
    house = await open_house(lambda _: "Noted.")
    async with connect(house, await house.token()) as http:
        webui = OpenWebUi(http=http)
        told = await webui.say("Remind me tomorrow at 9am to call mum.")
        other = await webui.say("What is on the news?")
        asked = await webui.say("cancel everything")
        declined = await webui.say("no")
        listed = await webui.say("What are my reminders?")
        gone = await webui.say("Cancel the reminder to call mum.")
    me = await person_called(house.app, None)
    async with house.app.db.begin_read() as tx:
        left = [each.text for each in await list_tasks(tx, me.id) if each.is_active]

    assert house.model is not None
    offered = [each for each in house.model.requests if each.tools and "ask_user" in str(each)]
    assert "call mum" in told
    assert other == "Noted."
    assert len(offered) == 1
    assert "call mum" in listed
    assert "Noted." not in {asked, declined, gone}
    assert left == []
    assert len(await house.said()) == 6


async def test_users_of_open_webui_are_told_apart(open_house: Open) -> None:
    """By the headers that it forwards."""
    house = await open_house()
    _, code = await create_code(house.app.db, house.app.clock, house.app.settings, "Zoë")
    async with connect(house, await house.token(scope="frontend")) as http:
        webui = OpenWebUi(http=http)
        stranger = await webui.say("I like plums.")
        await webui.say(code)
        await webui.say(MISO)

    assert "six digits" in stranger
    assert await house.said("Zoë") == [MISO]
    assert await house.said() == []
