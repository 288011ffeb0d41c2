"""A key and what somebody said go to the provider alone, whoever sends them on elsewhere."""

import asyncio
import socket

import httpx2
import pytest

from oldfriend.app.spend_limits import PendingCharges
from oldfriend.domain.errors import EmbeddingFailed, ModelError
from oldfriend.llm.adapters import http_connections as connections
from oldfriend.llm.adapters.http_connections import open_http_client
from oldfriend.llm.adapters.local_servers import find_servers
from oldfriend.llm.adapters.model_factory import build_model
from oldfriend.llm.adapters.openai_speech import (
    ProviderClient,
    RemoteSynthesizer,
    RemoteTranscriber,
)
from oldfriend.llm.adapters.remote_embeddings import RemoteEmbedder
from oldfriend.llm.model import CompletionRequest, PromptTurn
from oldfriend.llm.providers import LOCAL_PROVIDERS, ApiKind, ModelConfig, build_model_config
from tests.fakes.recording_server import recording_server, redirect_to

KEY = "sk-for-one-place-only"
WORDS = "my safe opens with 4711"
REQUEST = CompletionRequest(
    purpose="test",
    prompt="test/1",
    system_prompt="Be brief.",
    turns=(PromptTurn(role="instruction", text=WORDS),),
    max_output_tokens=16,
)


async def complete(choice: ModelConfig) -> None:
    """Have a model answer."""
    model = build_model(choice)
    try:
        await model.complete(REQUEST)
    finally:
        await model.close()


async def embed(choice: ModelConfig) -> None:
    """Have a text embedded."""
    embedder = RemoteEmbedder(choice, None, PendingCharges())
    try:
        await embedder.embed([WORDS])
    finally:
        await embedder.close()


async def transcribe(choice: ModelConfig) -> None:
    """Have a recording written down."""
    link = ProviderClient(choice)
    try:
        await RemoteTranscriber(link, PendingCharges()).transcribe(
            WORDS.encode(), mime="audio/ogg", language="en"
        )
    finally:
        await link.close()


async def speak(choice: ModelConfig) -> None:
    """Have a text spoken."""
    link = ProviderClient(choice)
    try:
        await RemoteSynthesizer(link, "alloy", PendingCharges()).synthesize(WORDS, language="en")
    finally:
        await link.close()


WAYS = [
    (complete, "openai"),
    (complete, "openai-responses"),
    (complete, "anthropic"),
    (complete, "ollama"),
    (embed, "openai"),
    (transcribe, "openai"),
    (speak, "openai"),
]


@pytest.mark.parametrize(("ask", "kind"), WAYS)
@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_no_redirect_is_followed(ask, kind: ApiKind, status: int) -> None:
    """By no kind of client: neither the key nor the words arrive elsewhere."""
    async with recording_server() as elsewhere:
        sent_on = redirect_to(elsewhere.url, status=status)
        async with recording_server(sent_on) as provider:
            choice = build_model_config("mine:m", kind=kind, base_url=provider.url, key=KEY)
            with pytest.raises((ModelError, EmbeddingFailed)):
                await ask(choice)

    assert KEY in provider.received
    assert elsewhere.requests == []


async def test_local_server_discovery_follows_no_redirect() -> None:
    """A page on this machine could send it anywhere."""
    async with recording_server() as elsewhere:
        sent_on = redirect_to(elsewhere.url, status=302)
        async with recording_server(sent_on) as provider:
            places = [(name, provider.url) for name in LOCAL_PROVIDERS]
            assert await find_servers(places) == []

    assert len(provider.requests) == len(LOCAL_PROVIDERS)
    assert elsewhere.requests == []


async def test_connection_to_a_forbidden_address_is_refused_before_sending(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also where only the name leads there: it is looked at when the connection is made."""
    asked = []

    def is_forbidden(host: str) -> bool:
        asked.append(host)
        return True

    async with recording_server() as server:
        monkeypatch.setattr(connections, "is_forbidden_host", is_forbidden)
        url = f"http://localhost:{server.port}/"
        async with open_http_client(url, headers={"Authorization": KEY}) as http:
            with pytest.raises(httpx2.ConnectError, match="not asked"):
                await http.post(url, content=WORDS)
        await asyncio.sleep(0.05)

    assert asked == [socket.gethostbyname("localhost")]
    assert server.received == ""
