"""Programs reach the memory over HTTP, each with a token of one person."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from oldfriend.app.app_context import AppContext
from oldfriend.app.audit_trail import AuditFilter, list_audit_trail
from oldfriend.config.settings_schema import ToolServerSettings
from oldfriend.forgetting.delete import forget
from oldfriend.mcp_client.server_pool import ToolServerPool
from oldfriend.memory.credentials import (
    generate_api_token,
    list_api_tokens,
    revoke_api_token,
    save_api_token,
)
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.web_sessions import MAX_SIGN_IN_ATTEMPTS, Scope
from oldfriend.presenters.tool_schemas import ProgramQuestionSchema
from oldfriend.usage.program_questions import get_question, list_questions
from tests.chat_fixtures import Say
from tests.clock import FrozenClock
from tests.mcp_server.conftest import Caller, person_called, read_texts

MISO = "My cat is called Miso."
PING = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


async def token_for(app: AppContext, person: str | None = None, scope: Scope = "write") -> str:
    """A new token of somebody."""
    owner = await person_called(app, person)
    secret = generate_api_token()
    async with app.db.begin_write() as tx:
        now = app.clock()
        await save_api_token(tx, owner.id, secret, name="desk", scope=scope, days=1, now=now)
    return secret


Call = Callable[..., AbstractAsyncContextManager[Caller]]


@pytest.fixture
def call(origin: str) -> Call:
    """Connect the SDK's client with a token."""

    @asynccontextmanager
    async def call(token: str, mode: str = "auto") -> AsyncIterator[Caller]:
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(headers=headers, trust_env=False, timeout=20) as http:
            transport = streamable_http_client(f"{origin}/mcp", http_client=http)
            async with Client(transport, mode=mode) as client:
                yield Caller(client)

    return call


@pytest.fixture
async def raw(origin: str) -> AsyncIterator[httpx.AsyncClient]:
    """A client that speaks HTTP only."""
    async with httpx.AsyncClient(base_url=origin, trust_env=False, verify=False) as client:
        yield client


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_program_uses_the_memory_of_its_token(
    call: Call, app: AppContext, say: Say, mode: str
) -> None:
    """With clients of the old and the new protocol."""
    await say(MISO)
    async with call(await token_for(app), mode) as caller:
        tools = await caller.client.list_tools()
        stored = await caller.told("remember", text="The spare key is under the blue pot.")
        keys = await caller.told("recall", query="Where is the spare key?")
        cats = await caller.told("recall", query="What is my cat called?")
        profile = await caller.client.read_resource("oldfriend://profile")

    assert len(tools.tools) == 5
    assert keys["results"][0]["id"] == stored["id"]
    assert MISO in read_texts(cats)
    assert profile.contents


async def test_each_token_opens_one_persons_memory(call: Call, app: AppContext) -> None:
    """And one for reading does not write."""
    async with call(await token_for(app, "Omar")) as omar:
        await omar.told("remember", text="My passport number is 5512.")
    async with call(await token_for(app, scope="read")) as caller:
        tools = [each.name for each in (await caller.client.list_tools()).tools]
        found = await caller.told("recall", query="passport number")
        refusal = await caller.refused("remember", text="I was here.")

    assert "remember" not in tools
    assert found["results"] == []
    assert "only read" in refusal


@pytest.mark.parametrize(("scope", "by"), [("write", "mcp"), ("admin", "mcp"), ("speak", "user")])
async def test_the_token_says_whose_words_they_are(
    call: Call, app: AppContext, scope: Scope, by: str
) -> None:
    """Only with the scope for it they are the person's own."""
    async with call(await token_for(app, scope=scope)) as caller:
        await caller.told("remember", text="The spare key is under the blue pot.")
        found = await caller.told("recall", query="Where is the spare key?")

    assert found["results"][0]["by"] == by
    assert found["results"][0]["trust"] == ("user" if by == "user" else "outside")


@pytest.mark.parametrize("header", [None, "Bearer", "Bearer nonsense", "Basic b2xk"])
async def test_13_nobody_is_served_without_a_valid_token(
    raw: httpx.AsyncClient, origin: str, header: str | None
) -> None:
    """“No auth.” They are told where to get one, as RFC 9728 has it."""
    headers = ACCEPT if header is None else {**ACCEPT, "Authorization": header}
    refused = await raw.post("/mcp", json=PING, headers=headers)
    where = f"{origin}/.well-known/oauth-protected-resource/mcp"

    assert refused.status_code == 401
    assert f'resource_metadata="{where}"' in refused.headers["WWW-Authenticate"]
    assert "oldfriend token new" in refused.json()["error"]["message"]
    metadata = (await raw.get(where)).json()
    assert metadata["resource"] == f"{origin}/mcp"
    assert metadata["bearer_methods_supported"] == ["header"]


async def test_an_expired_or_revoked_token_is_refused(
    raw: httpx.AsyncClient, app: AppContext, clock: FrozenClock
) -> None:
    """At once."""
    owner, old = await person_called(app, None), await token_for(app)
    clock.tick(minutes=3_000)
    revoked = await token_for(app)
    async with app.db.begin_write() as tx:
        newest = (await list_api_tokens(tx, owner.id))[0]
        await revoke_api_token(tx, owner.id, newest.id)

    for token in (old, revoked):
        headers = {**ACCEPT, "Authorization": f"Bearer {token}"}
        assert (await raw.post("/mcp", json=PING, headers=headers)).status_code == 401


async def test_guessing_tokens_is_slowed_down(raw: httpx.AsyncClient) -> None:
    """As everywhere else."""
    for number in range(MAX_SIGN_IN_ATTEMPTS + 1):
        headers = {**ACCEPT, "Authorization": f"Bearer guess{number}"}
        refused = await raw.post("/mcp", json=PING, headers=headers)

    assert refused.status_code == 429
    assert refused.headers["Retry-After"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Host": "evil.example"},
    ],
)
async def test_no_web_page_reaches_the_door(
    raw: httpx.AsyncClient, app: AppContext, headers: dict[str, str]
) -> None:
    """Not even with a token."""
    sent = {**ACCEPT, "Authorization": f"Bearer {await token_for(app)}", **headers}
    refused = await raw.post("/mcp", json=PING, headers=sent)

    assert refused.status_code in {400, 403}


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"jsonrpc": "2.0"}', b"\xff" * 10])
async def test_broken_requests_are_refused(
    raw: httpx.AsyncClient, app: AppContext, body: bytes
) -> None:
    """With an error of the protocol, and the next one is served."""
    headers = {**ACCEPT, "Authorization": f"Bearer {await token_for(app)}"}
    broken = await raw.post("/mcp", content=body, headers=headers)
    whole = await raw.post("/mcp", json=PING, headers=headers)

    assert 400 <= broken.status_code < 500
    assert whole.status_code == 200
    assert len(json.loads(whole.text)["result"]["tools"]) == 5


async def test_without_the_sdk_it_says_what_to_install(
    raw: httpx.AsyncClient, app: AppContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And everything else is served."""

    def fail(name: str) -> None:
        raise ModuleNotFoundError(name="mcp")

    monkeypatch.setattr("oldfriend.mcp_server.http_door.importlib.import_module", fail)
    headers = {**ACCEPT, "Authorization": f"Bearer {await token_for(app)}"}
    refused = await raw.post("/mcp", json=PING, headers=headers)

    assert refused.status_code == 501
    assert "oldfriend[mcp]" in refused.json()["error"]["message"]


async def test_our_own_client_uses_the_door(origin: str, app: AppContext, say: Say) -> None:
    """With the key that is stored for it; without one it is told why not."""
    await say(MISO)
    token = await token_for(app, scope="read")
    server = ToolServerSettings(url=f"{origin}/mcp", tools=("recall",), reading=("recall",))
    nowhere = ToolServerSettings(url="http://127.0.0.1:9/mcp", tools=("recall",))
    keys = {"friend": token, "stranger": "wrong", "nowhere": None}
    servers = {"friend": server, "stranger": server, "nowhere": nowhere}
    pool = ToolServerPool(servers, lambda name, _: keys[name])
    try:
        states = {each.name: each for each in await pool.check(20)}
        (recall,) = pool.list_tools()
        answer = await pool.call(recall, {"query": "What is my cat called?"})
    finally:
        await pool.close()

    assert MISO in answer
    assert states["friend"].tools == ("recall",)
    assert states["stranger"].state == "failed"
    assert states["nowhere"].state == "failed"
    assert all(states[name].reason for name in ("stranger", "nowhere"))


async def test_what_a_program_asked_stands_in_the_audit_until_it_is_forgotten(
    call: Call, app: AppContext, say: Say
) -> None:
    """With the name of its token, what it was given, and where and when that was said."""
    person = await person_called(app, None)
    await say(MISO, channel="web")
    async with call(await token_for(app, scope="read")) as caller:
        await caller.told("recall", query="What is my cat called?")
    async with app.db.begin_read() as tx:
        token = (await list_api_tokens(tx, person.id))[0]
        trail, _ = await list_audit_trail(
            tx, person.id, limit=9, wanted=AuditFilter(kind="question")
        )
        (record,) = trail
        question = await get_question(tx, person.id, record.question)
        shown = await ProgramQuestionSchema.load(tx, person, question)

    assert (record.what, record.details) == (token.name, "What is my cat called?")
    assert record.given == len(shown.given) > 0
    said = next(each for each in shown.given if each.text == MISO)
    assert said.channel == "web"

    await forget(app, person.id, DeletionRequest(ids=(said.id,)))
    async with app.db.begin_read() as tx:
        assert await list_questions(tx, person.id, limit=9, until=None) == []
