"""A hosted assistant is let in by its person on the page, and by nobody and nothing else."""

import base64
import hashlib
import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.oauth2 import AuthorizationCodeResult
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

from oldfriend.app.app_context import AppContext
from oldfriend.domain.clock import MINUTE, SECOND
from oldfriend.forgetting.delete import forget
from oldfriend.inbound.account_linking import create_sign_in_link
from oldfriend.inbound.oauth_requests import is_document_address, is_redirect_fit, name_host
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.oauth_grants import ACCESS_TTL, CODE_TTL, REFRESH_DAYS, REPEAT_GRACE
from oldfriend.memory.people import get_person
from oldfriend.memory.web_sessions import MAX_SIGN_IN_ATTEMPTS
from tests.chat_fixtures import Say
from tests.clock import FrozenClock
from tests.fakes.web_sites import page, redirect, web_sites
from tests.mcp_server.conftest import Caller, read_texts

MISO = "My cat is called Miso."
CALLBACK = "https://claude.example/api/callback"
VERIFIER = "a-verifier-that-only-the-program-knows-of-43-chars"
CHALLENGE = (
    base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
)
DOCUMENT = "https://assistant.example/client.json"
LISTING = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


def read_answer(address: str) -> dict[str, str]:
    """What an address tells the program."""
    return dict(parse_qsl(urlsplit(address).query, strict_parsing=True))


@dataclass
class Assistant:
    """A hosted program and the browser of the person whom it asks, both over HTTP."""

    origin: str
    http: httpx.AsyncClient  # the program's
    browser: httpx.AsyncClient
    client_id: str = ""

    async def register(self, *redirects: str, name: str = "Claude") -> httpx.Response:
        """Register the program."""
        told = {"client_name": name, "redirect_uris": redirects or (CALLBACK,)}
        answer = await self.http.post("/oauth/register", json=told)
        self.client_id = answer.json().get("client_id", "")
        return answer

    def ask(self, **changed: str) -> dict[str, str]:
        """What it asks."""
        return {
            "client_id": self.client_id,
            "redirect_uri": CALLBACK,
            "response_type": "code",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "state": "s1",
            "resource": f"{self.origin}/mcp",
            **changed,
        }

    async def decide(
        self, allow: str = "read", asked: Mapping[str, str] | None = None, **changed: str
    ) -> httpx.Response:
        """What the page does when the person has decided."""
        request = dict(asked or self.ask(**changed))
        return await self.browser.post(
            "/api/v1/authorization/decision", json={"request": request, "allow": allow}
        )

    async def get_code(self, allow: str = "read", **changed: str) -> str:
        """A code that the person has allowed."""
        answer = await self.decide(allow, **changed)
        assert answer.status_code == 200, answer.text
        return read_answer(answer.json()["address"])["code"]

    async def exchange(self, **fields: str) -> httpx.Response:
        """Exchange something for tokens."""
        form = {"client_id": self.client_id, "resource": f"{self.origin}/mcp", **fields}
        return await self.http.post("/oauth/token", data=form)

    async def exchange_code(self, code: str, **changed: str) -> httpx.Response:
        """Exchange a code."""
        fields = {"code": code, "redirect_uri": CALLBACK, "code_verifier": VERIFIER, **changed}
        return await self.exchange(grant_type="authorization_code", **fields)

    async def refresh(self, token: str, **changed: str) -> httpx.Response:
        """Exchange a refresh token."""
        return await self.exchange(grant_type="refresh_token", refresh_token=token, **changed)

    async def connect(self, allow: str = "read") -> dict[str, Any]:
        """Be let in; the tokens."""
        tokens: dict[str, Any] = (await self.exchange_code(await self.get_code(allow))).json()
        return tokens

    async def opens(self, token: str, path: str = "/mcp") -> bool:
        """Whether a token opens something."""
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        if path == "/mcp":
            answer = await self.http.post(path, json=LISTING, headers=headers)
        else:
            answer = await self.http.get(path, headers=headers)
        assert answer.status_code in {200, 401}, answer.text
        return answer.status_code == 200

    async def list_connections(self) -> list[dict[str, Any]]:
        """What Settings shows."""
        items: list[dict[str, Any]] = (await self.browser.get("/api/v1/tokens")).json()["items"]
        return items


@pytest.fixture
async def assistant(origin: str, app: AppContext) -> AsyncIterator[Assistant]:
    """A registered program, and the owner's browser."""
    async with (
        httpx.AsyncClient(base_url=origin, trust_env=False, verify=False) as http,
        httpx.AsyncClient(
            base_url=origin, trust_env=False, verify=False, headers={"Origin": origin}
        ) as browser,
    ):
        port = urlsplit(origin).port or 0
        link = await create_sign_in_link(app.db, app.clock, app.settings, None, port=port)
        session = {"link": link.partition("#")[2]}
        signed = await browser.post("/api/v1/session", json=session)
        if signed.status_code == 409:
            session["person"] = signed.json()["values"]["person"]
            signed = await browser.post("/api/v1/session", json=session)
        browser.headers["X-CSRF-Token"] = signed.json()["token"]
        found = Assistant(origin=origin, http=http, browser=browser)
        assert (await found.register()).status_code == 201
        yield found


@dataclass
class Kept:
    """What the SDK's client keeps between calls."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None
    asked: dict[str, str] = field(default_factory=dict)

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def provide(assistant: Assistant, kept: Kept, allow: str, document: str | None = None) -> Any:
    """The SDK's own client, whose person decides as told."""

    async def show_person(address: str) -> None:
        assert address.startswith(f"{assistant.origin}/authorize?")
        kept.asked = read_answer(address)

    async def hear() -> AuthorizationCodeResult:
        answer = await assistant.decide(allow, kept.asked)
        told = read_answer(answer.json()["address"])
        return AuthorizationCodeResult(
            code=told.get("code", ""), state=told["state"], iss=told["iss"]
        )

    return OAuthClientProvider(
        server_url=f"{assistant.origin}/mcp",
        client_metadata=OAuthClientMetadata(
            client_name="Claude", redirect_uris=["http://localhost:4711/callback"]
        ),
        storage=kept,
        redirect_handler=show_person,
        callback_handler=hear,
        client_metadata_url=document,
    )


async def call(assistant: Assistant, provider: Any, use: Callable[[Caller], Any]) -> Any:
    """Use the memory as a program does that the SDK's client lets in."""
    async with httpx2.AsyncClient(auth=provider, trust_env=False, timeout=20) as http:
        transport = streamable_http_client(f"{assistant.origin}/mcp", http_client=http)
        async with Client(transport) as client:
            return await use(Caller(client))


@pytest.mark.parametrize("allow", ["read", "write"])
async def test_the_sdks_client_is_let_in_and_renews_its_token(
    assistant: Assistant, say: Say, allow: str
) -> None:
    """It registers, asks, is asked about, and goes on without its person; Settings names it."""
    await say(MISO)
    kept = Kept()
    provider = provide(assistant, kept, allow)

    async def use(caller: Caller) -> tuple[list[str], Any]:
        tools = [each.name for each in (await caller.client.list_tools()).tools]
        return tools, await caller.told("recall", query="What is my cat called?")

    tools, found = await call(assistant, provider, use)
    assert MISO in read_texts(found)
    assert ("remember" in tools) == (allow == "write")
    assert kept.asked["scope"] == "read write"
    assert kept.tokens is not None
    assert kept.tokens.scope == ("read write" if allow == "write" else "read")

    first = kept.tokens
    provider.context.token_expiry_time = 1  # its hour is over
    await call(assistant, provider, use)
    assert kept.tokens.access_token != first.access_token
    assert not await assistant.opens(first.access_token)
    (connection,) = await assistant.list_connections()
    assert (connection["name"], connection["scope"]) == ("Claude (localhost)", allow)
    assert (await assistant.browser.delete(f"/api/v1/tokens/{connection['id']}")).is_success
    assert not await assistant.opens(kept.tokens.access_token)
    assert (await assistant.refresh(kept.tokens.refresh_token or "")).status_code == 400


async def test_a_program_with_a_document_needs_no_registration(
    assistant: Assistant, app: AppContext
) -> None:
    """Its id is the address of what it says of itself; the SDK's client prefers that."""
    metadata = {"client_id": DOCUMENT, "client_name": "Aide", "redirect_uris": [CALLBACK]}
    metadata["redirect_uris"] = ["http://localhost/callback"]
    kept = Kept()
    site = page(json.dumps(metadata), content_type="application/json")
    async with web_sites({"assistant.example": site}) as web:
        app.web.fetcher = web.fetcher()
        await call(
            assistant, provide(assistant, kept, "read", DOCUMENT), lambda each: each.told("about")
        )
    assert kept.asked["client_id"] == DOCUMENT
    assert [each["name"] for each in await assistant.list_connections()] == ["Aide (localhost)"]


FORGED = {
    "another's": page(
        json.dumps({"client_id": CALLBACK, "redirect_uris": [CALLBACK]}),
        content_type="application/json",
    ),
    "with a secret": page(
        json.dumps(
            {
                "client_id": DOCUMENT,
                "redirect_uris": [CALLBACK],
                "token_endpoint_auth_method": "client_secret_post",
            }
        ),
        content_type="application/json",
    ),
    "moved": redirect("https://other.example/client.json"),
    "moved to a private place": redirect("http://169.254.169.254/latest"),
    "huge": page(
        json.dumps({"client_id": DOCUMENT, "redirect_uris": [CALLBACK], "x": "y" * 40_000}),
        content_type="application/json",
        packed=True,
    ),
    "a page": page("<p>hello</p>"),
    "a script as its address": page(
        json.dumps({"client_id": DOCUMENT, "redirect_uris": ["javascript:alert(1)"]}),
        content_type="application/json",
    ),
    "nonsense": page("[[[[", content_type="application/json"),
}


@pytest.mark.parametrize("kind", FORGED)
async def test_forged_document_lets_nobody_in(
    assistant: Assistant, app: AppContext, kind: str
) -> None:
    """Whatever is wrong with it."""
    async with web_sites({"assistant.example": FORGED[kind]}) as web:
        app.web.fetcher = web.fetcher()
        answer = await assistant.decide("read", client_id=DOCUMENT)
        assert (answer.status_code, answer.json()["code"]) == (422, "oauth_document")
        assert len(web.dialled) == 1


async def test_document_on_this_network_is_not_even_asked_for(
    assistant: Assistant, app: AppContext
) -> None:
    """By its address, its name, or where its name leads."""
    names = {"inside.example": ["10.0.0.7"]}
    async with web_sites({"inside.example": page("")}, names) as web:
        app.web.fetcher = web.fetcher()
        for host in ("127.0.0.1", "localhost", "inside.example", "[::1]", "inside.example:8080"):
            answer = await assistant.decide("read", client_id=f"https://{host}/client.json")
            assert answer.status_code == 422, host
        assert web.dialled == []


async def test_metadata_says_where_and_how_to_ask(assistant: Assistant) -> None:
    """From the refusal to the server, as clients find their way."""
    refused = await assistant.http.post("/mcp", json=LISTING)
    where = refused.headers["WWW-Authenticate"].partition('resource_metadata="')[2].rstrip('"')
    resource = (await assistant.http.get(where)).json()
    (issuer,) = resource["authorization_servers"]
    server = (await assistant.http.get(f"{issuer}/.well-known/oauth-authorization-server")).json()

    assert resource["resource"] == f"{assistant.origin}/mcp"
    assert (issuer, server["issuer"]) == (assistant.origin, assistant.origin)
    assert server["code_challenge_methods_supported"] == ["S256"]
    assert server["token_endpoint_auth_methods_supported"] == ["none"]
    page_shown = await assistant.http.get(f"/authorize?{urlencode(assistant.ask())}")
    assert page_shown.headers["x-frame-options"] == "DENY"
    assert "frame-ancestors 'none'" in page_shown.headers["content-security-policy"]
    assert page_shown.headers["cross-origin-opener-policy"] == "unsafe-none"


async def test_code_is_used_once_and_its_theft_ends_the_connection(assistant: Assistant) -> None:
    """Whoever comes second with it."""
    code = await assistant.get_code()
    tokens = (await assistant.exchange_code(code)).json()
    assert await assistant.opens(tokens["access_token"])

    again = await assistant.exchange_code(code)
    assert (again.status_code, again.json()["error"]) == (400, "invalid_grant")
    assert not await assistant.opens(tokens["access_token"])
    assert (await assistant.refresh(tokens["refresh_token"])).status_code == 400


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"code_verifier": "w" * 43}, "invalid_grant"),
        ({"code_verifier": ""}, "invalid_grant"),
        ({"redirect_uri": "https://claude.example/api/other"}, "invalid_grant"),
        ({"redirect_uri": f"{CALLBACK}/"}, "invalid_grant"),
        ({"client_id": "program-other"}, "invalid_grant"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
        ({"code": "x"}, "invalid_grant"),
    ],
)
async def test_code_is_worth_nothing_to_anybody_else(
    assistant: Assistant, changed: dict[str, str], error: str
) -> None:
    """Without the verifier, at another address, as another program, for another server."""
    fields = {"code": await assistant.get_code(), **changed}
    answer = await assistant.exchange_code(**fields)
    assert (answer.status_code, answer.json()["error"]) == (400, error)
    assert await assistant.list_connections() == []


async def test_code_lasts_a_minute(assistant: Assistant, clock: FrozenClock) -> None:
    """No longer."""
    code = await assistant.get_code()
    clock.tick(seconds=CODE_TTL / SECOND)
    assert (await assistant.exchange_code(code)).json()["error"] == "invalid_grant"


async def test_refresh_token_is_used_once_and_its_theft_ends_the_connection(
    assistant: Assistant, clock: FrozenClock
) -> None:
    """Both the thief's and the program's tokens end."""
    first = await assistant.connect("write")
    clock.tick(minutes=ACCESS_TTL / MINUTE)
    assert not await assistant.opens(first["access_token"])
    second = (await assistant.refresh(first["refresh_token"])).json()
    assert await assistant.opens(second["access_token"])
    assert second["scope"] == "read write"
    (connection,) = await assistant.list_connections()
    assert not connection["is_over"]

    clock.tick(seconds=REPEAT_GRACE / SECOND)
    assert (await assistant.refresh(first["refresh_token"])).json()["error"] == "invalid_grant"
    assert not await assistant.opens(second["access_token"])
    assert (await assistant.refresh(second["refresh_token"])).json()["error"] == "invalid_grant"
    assert await assistant.list_connections() == []


async def test_refresh_whose_answer_was_lost_may_be_repeated_once(
    assistant: Assistant, clock: FrozenClock
) -> None:
    """At once, by the same program; the tokens of the lost answer open nothing."""
    first = await assistant.connect("write")
    clock.tick(minutes=30)
    lost = (await assistant.refresh(first["refresh_token"])).json()
    clock.tick(seconds=REPEAT_GRACE / SECOND - 1)
    second = (await assistant.refresh(first["refresh_token"])).json()

    assert await assistant.opens(second["access_token"])
    assert not await assistant.opens(lost["access_token"])
    clock.tick(seconds=1)
    third = (await assistant.refresh(second["refresh_token"])).json()
    assert await assistant.opens(third["access_token"])
    assert len(await assistant.list_connections()) == 1


@pytest.mark.parametrize("who", ["whoever has the lost answer", "a third", "another", "the faster"])
async def test_refresh_token_in_two_hands_ends_the_connection(
    assistant: Assistant, clock: FrozenClock, who: str
) -> None:
    """Also while a lost answer would be given again (RFC 9700, 4.14.2)."""
    first = await assistant.connect("write")
    clock.tick(minutes=30)
    other = (await assistant.refresh(first["refresh_token"])).json()
    clock.tick(seconds=1)
    changed = {"client_id": "program-x"} if who == "another" else {}
    if who == "the faster":
        clock.tick(seconds=1)
        other = (await assistant.refresh(other["refresh_token"])).json()
    answer = await assistant.refresh(first["refresh_token"], **changed)
    clock.tick(seconds=1)
    if who == "whoever has the lost answer":
        assert answer.status_code == 200
        other, answer = answer.json(), await assistant.refresh(other["refresh_token"])
    if who == "a third":
        assert answer.status_code == 200
        other, answer = answer.json(), await assistant.refresh(first["refresh_token"])

    assert answer.json()["error"] == "invalid_grant"
    assert not await assistant.opens(other["access_token"])
    assert await assistant.list_connections() == []


async def test_refresh_tokens_that_are_over_are_deleted_when_another_is_issued(
    assistant: Assistant, app: AppContext, clock: FrozenClock
) -> None:
    """Used ones are known until then, so that a theft shows."""
    tokens = await assistant.connect()
    for _ in range(3):
        clock.tick(minutes=24 * 60 * (REFRESH_DAYS - 20))
        tokens = (await assistant.refresh(tokens["refresh_token"])).json()
    async with app.db.begin_read() as tx:
        kinds = await tx.rows("SELECT kind FROM oauth_grant ORDER BY made_at")
    assert kinds == [("refresh",)] * 2


async def test_what_is_no_token_of_this_house_keeps_nobody_waiting(
    assistant: Assistant, app: AppContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only one transaction writes at a time, and anybody may ask."""

    def refuse() -> None:
        raise AssertionError("nothing is written")

    monkeypatch.setattr(type(app.db), "begin_write", lambda _: refuse())
    for answer in (
        await assistant.exchange_code("x"),
        await assistant.refresh("x"),
    ):
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")
    assert (await assistant.http.post("/oauth/revoke", data={"token": "x"})).status_code == 200


@pytest.mark.parametrize("changed", [{"client_id": "program-x"}, {"resource": "https://a.test/"}])
async def test_refresh_token_of_another_program_or_server_renews_nothing(
    assistant: Assistant, changed: dict[str, str]
) -> None:
    """It is bound to both."""
    tokens = await assistant.connect()
    assert (await assistant.refresh(tokens["refresh_token"], **changed)).status_code == 400


async def test_connection_that_is_not_used_ends(assistant: Assistant, clock: FrozenClock) -> None:
    """After two months."""
    tokens = await assistant.connect()
    clock.tick(minutes=REFRESH_DAYS * 24 * 60)
    assert (await assistant.refresh(tokens["refresh_token"])).json()["error"] == "invalid_grant"


async def test_token_of_a_hosted_program_opens_nothing_but_mcp(assistant: Assistant) -> None:
    """Neither the API nor the doors for chat front ends."""
    token = (await assistant.connect("write"))["access_token"]
    assert await assistant.opens(token)
    assert not await assistant.opens(token, "/api/v1/memories")
    assert not await assistant.opens(token, "/api/v1/session")


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
async def test_program_that_revokes_a_token_is_out(assistant: Assistant, kind: str) -> None:
    """By either; and by none, quietly."""
    tokens = await assistant.connect()
    for _ in range(2):
        assert (await assistant.http.post("/oauth/revoke", data={"token": tokens[kind]})).is_success
    assert not await assistant.opens(tokens["access_token"])
    assert (await assistant.refresh(tokens["refresh_token"])).status_code == 400


async def test_program_that_is_refused_hears_so(assistant: Assistant) -> None:
    """With its state, and who says it."""
    answer = await assistant.decide("nothing", redirect_uri=CALLBACK)
    assert read_answer(answer.json()["address"]) == {
        "error": "access_denied",
        "state": "s1",
        "iss": assistant.origin,
    }


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": ""}, "invalid_request"),
        ({"code_challenge": ""}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
    ],
)
async def test_request_that_cannot_be_allowed_is_told_to_its_program_only(
    assistant: Assistant, changed: dict[str, str], error: str
) -> None:
    """The page shows what is wrong; no code is made."""
    shown = await assistant.browser.post("/api/v1/authorization", json=assistant.ask(**changed))
    assert (shown.json()["error"], shown.json()["scopes"]) == (error, [])
    assert (await assistant.decide("read", **changed)).status_code == 422
    back = await assistant.decide("nothing", **changed)
    assert read_answer(back.json()["address"])["error"] == error


@pytest.mark.parametrize(
    "uri",
    [
        "https://evil.example/api/callback",
        f"{CALLBACK}/more",
        f"{CALLBACK}?more=1",
        f"{CALLBACK}#part",
        "http://claude.example/api/callback",
        "https://claude.example:8443/api/callback",
        "https://CLAUDE.example/api/callback",
        "https://claude.example@evil.example/api/callback",
        "javascript:alert(1)",
    ],
)
async def test_answer_goes_nowhere_but_where_the_program_belongs(
    assistant: Assistant, uri: str
) -> None:
    """Not even a refusal does."""
    for allow in ("read", "nothing"):
        answer = await assistant.decide(allow, redirect_uri=uri)
        assert (answer.status_code, answer.json()["code"]) == (422, "oauth_redirect")


@pytest.mark.parametrize("client_id", ["program-x", "\0", "https://", "x" * 2_000])
async def test_unknown_program_is_told_nothing(assistant: Assistant, client_id: str) -> None:
    """Its id may be anything."""
    for allow in ("read", "nothing"):
        answer = await assistant.decide(allow, client_id=client_id)
        assert (answer.status_code, answer.json()["code"]) == (422, "oauth_unknown")


async def test_program_on_this_machine_takes_any_free_port(assistant: Assistant) -> None:
    """And nothing else is left open by that (RFC 8252)."""
    await assistant.register("http://127.0.0.1/callback")
    code = await assistant.get_code(redirect_uri="http://127.0.0.1:50123/callback")
    answer = await assistant.exchange_code(code, redirect_uri="http://127.0.0.1:50123/callback")
    assert answer.is_success
    for other in ("http://localhost:50123/callback", "http://127.0.0.1:50123/other"):
        assert (await assistant.decide("read", redirect_uri=other)).status_code == 422


@pytest.mark.parametrize(
    ("redirect", "name"),
    [
        ("https://claude.ai/api/callback", "claude.ai"),
        ("http://[::1]:80/cb", "::1"),
        ("cursor://claude.ai/callback", "cursor:"),
        ("com.evil.app://login.example.org/cb", "com.evil.app:"),
        ("com.example.app:/callback", "com.example.app:"),
    ],
)
def test_place_of_an_answer_is_a_host_only_where_a_browser_goes_to_it(
    redirect: str, name: str
) -> None:
    """What stands there in an app's own address is up to the app, and no site."""
    assert name_host(redirect) == name


@pytest.mark.parametrize(
    ("uri", "is_fit"),
    [
        ("https://claude.ai/api/mcp/auth_callback", True),
        ("http://[::1]:80/cb", True),
        ("cursor://anysphere.cursor-mcp/oauth/callback", True),
        ("com.example.app:/callback", True),
        ("http://example.org/cb", False),
        ("https:///cb", False),
        ("https://example.org:x/cb", False),
        ("data:text/html,hello", False),
        ("file:///etc/passwd", False),
        ("https://example.org/c b", False),
        ("https://example.org\\@evil.example/", False),
        ("http://localhost@evil.example/", False),
        ("https://exämple.org/cb", False),
    ],
)
def test_redirects_go_by_tls_or_stay_on_the_persons_machine(uri: str, is_fit: bool) -> None:
    """And never to something that a browser would run."""
    assert is_redirect_fit(uri) == is_fit


@pytest.mark.parametrize(
    "client_id",
    ["https://a.test", "https://a.test/", "http://a.test/c", "https://a.test/../c", "c"],
)
def test_id_is_the_address_of_a_document_only_in_plain_form(client_id: str) -> None:
    """With TLS and a path."""
    assert not is_document_address(client_id)
    assert is_document_address("https://a.test/c")


async def test_only_the_page_of_the_person_decides(
    assistant: Assistant, clock: FrozenClock, origin: str
) -> None:
    """No other site, no cookie alone, no program; and not long after they have signed in."""
    decided = {"request": assistant.ask(), "allow": "read"}
    browser, path = assistant.browser, "/api/v1/authorization/decision"
    secret = browser.headers["X-CSRF-Token"]
    made = await browser.post("/api/v1/tokens", json={"name": "x", "scope": "admin", "days": 1})
    forged: list[dict[str, str]] = [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"X-CSRF-Token": ""},
        {"X-CSRF-Token": "guess"},
        {"Authorization": f"Bearer {made.json()['token']}"},
    ]
    for headers in forged:
        answer = await browser.post(path, json=decided, headers=headers)
        assert answer.status_code in {401, 403}, headers
    form = await browser.post(path, data={"allow": "read"}, headers={"Sec-Fetch-Site": "none"})
    assert form.status_code == 422
    async with httpx.AsyncClient(base_url=origin, trust_env=False, verify=False) as stranger:
        stranger.headers.update({"Origin": origin, "X-CSRF-Token": secret})
        assert (await stranger.post(path, json=decided)).status_code == 401
        assert (await stranger.post("/api/v1/authorization", json=decided)).status_code == 401

    clock.tick(minutes=15)
    late = await browser.post(path, json=decided)
    assert (late.status_code, late.json()["code"]) == (403, "sign_in_again")
    assert (await browser.post(path, json={**decided, "allow": "nothing"})).is_success


async def test_a_program_cannot_be_given_more_than_it_asked_for(assistant: Assistant) -> None:
    """One that asks to read is not offered more; what nobody knows is left out."""
    shown = await assistant.browser.post("/api/v1/authorization", json=assistant.ask(scope="read"))
    assert shown.json()["scopes"] == ["read"]
    assert (await assistant.decide("write", scope="read")).status_code == 422
    odd = await assistant.browser.post(
        "/api/v1/authorization", json=assistant.ask(scope="openid write admin")
    )
    assert odd.json()["scopes"] == ["read", "write"]


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"redirect_uris": []},
        {"redirect_uris": ["https://a.test/cb"] * 11},
        {"redirect_uris": ["http://a.test/cb"]},
        {"redirect_uris": ["javascript:alert(1)"]},
        {"redirect_uris": "https://a.test/cb"},
        {"redirect_uris": [CALLBACK], "client_name": 7},
    ],
)
async def test_unfit_registration_is_refused(assistant: Assistant, told: dict[str, Any]) -> None:
    """As RFC 7591 says it."""
    answer = await assistant.http.post("/oauth/register", json=told)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_client_metadata")


async def test_registrations_are_limited_and_forgotten(
    assistant: Assistant, app: AppContext, clock: FrozenClock
) -> None:
    """Anybody may register; nothing large, not many, and what nobody lets in does not stay."""
    for _ in range(MAX_SIGN_IN_ATTEMPTS - 1):
        assert (await assistant.register()).status_code == 201
    refused = await assistant.http.post("/oauth/register", json={"redirect_uris": [CALLBACK]})
    assert refused.status_code == 429
    assert int(refused.headers["Retry-After"]) > 0
    huge = {"redirect_uris": [CALLBACK], "client_name": "x" * 40_000}
    assert (await assistant.http.post("/oauth/register", json=huge)).status_code == 413

    clock.tick(minutes=25 * 60)
    await assistant.register(name="\u202eedualC\n<b>" + "x" * 100)
    async with app.db.begin_read() as tx:
        (name,) = [row[0] for row in await tx.rows("SELECT name FROM oauth_client")]
    assert name.startswith("edualC <b>")
    assert len(name) <= 40


async def test_only_hashes_are_stored(assistant: Assistant, app: AppContext) -> None:
    """Of codes and of both tokens."""
    code = await assistant.get_code()
    tokens = (await assistant.exchange_code(code)).json()
    async with app.db.begin_read() as tx:
        stored = repr(
            [
                *await tx.rows("SELECT * FROM oauth_grant"),
                *await tx.rows("SELECT * FROM web_token"),
                *await tx.rows("SELECT * FROM oauth_client"),
            ]
        )
    for secret in (code, tokens["access_token"], tokens["refresh_token"], VERIFIER):
        assert secret not in stored


async def test_connection_ends_when_everything_is_forgotten(
    assistant: Assistant, app: AppContext
) -> None:
    """The program has to be let in again."""
    tokens = await assistant.connect()
    async with app.db.begin_read() as tx:
        person = (await get_person(tx, None)).id
    await forget(app, person, DeletionRequest(everything=True))
    assert not await assistant.opens(tokens["access_token"])
    assert await assistant.list_connections() == []


@pytest.mark.parametrize("form", ["a=1", "grant_type=password", "x=%ff&x=1", "=" * 3_000])
async def test_unreadable_exchange_is_refused(assistant: Assistant, form: str) -> None:
    """With an answer that clients understand."""
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = await assistant.http.post("/oauth/token", content=form, headers=kind)
    assert answer.status_code == 400
    assert answer.json()["error"] in {"invalid_request", "unsupported_grant_type"}
    cross = {**kind, "Origin": "https://evil.example"}
    assert (await assistant.http.post("/oauth/token", content=form, headers=cross)).is_error
