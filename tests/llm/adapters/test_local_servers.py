"""Servers on this machine are found by their lists of models, and nobody else is taken for one."""

import asyncio
import socket
import threading
import time
from contextlib import suppress

import pytest

from oldfriend.llm.adapters.local_servers import SEARCH_TIMEOUT_S, find_servers
from oldfriend.llm.local_models import LocalModel, LocalServer, describe_fitness, suggest_roles
from oldfriend.llm.providers import LOCAL_PROVIDERS
from tests.fakes.local_servers import (
    FakeLlamaServer,
    FakeLmStudio,
    FakeModel,
    FakeOllama,
    FakeServer,
    FakeVllm,
    running,
)
from tests.fakes.raw_server import raw_server, whole

TALKER = FakeModel(name="qwen3:8b", thinks=True)
SMALL = FakeModel(name="llama3.2:3b", parameters=3_212_749_888, has_tools=False)
EMBEDDER = FakeModel(name="nomic-embed-text:latest", embeds=True, has_tools=False, context=2048)


async def find(fake: FakeServer, provider: str = "") -> list[LocalServer]:
    """Look for a fake as what it is, or as something else."""
    return await find_servers([(provider or fake.provider, fake.base_url)])


async def test_ollama_discovery_lists_size_context_and_abilities_of_models() -> None:
    """Size, context and abilities, by /api/show, without loading any."""
    with running(FakeOllama([TALKER, SMALL, EMBEDDER])) as fake:
        (server,) = await find(fake)

    assert server.models == (
        LocalModel(
            name="qwen3:8b",
            parameters=TALKER.parameters,
            context_length=32_768,
            has_tools=True,
            thinks=True,
        ),
        LocalModel(
            name="llama3.2:3b",
            parameters=SMALL.parameters,
            context_length=32_768,
            has_tools=False,
            thinks=False,
        ),
        LocalModel(
            name="nomic-embed-text:latest",
            is_embedder=True,
            parameters=EMBEDDER.parameters,
            context_length=2048,
            has_tools=False,
            thinks=False,
        ),
    )
    assert {path for _, path, _ in fake.requests} == {"/api/tags", "/api/show"}


async def test_lm_studio_discovery_reports_the_loaded_context_length() -> None:
    """The trained one is of no use then; the size stands in the name."""
    models = [FakeModel(name="meta-llama-3.1-8b-instruct", context=4096), EMBEDDER]
    with running(FakeLmStudio(models)) as fake:
        (server,) = await find(fake)
    talker, embedder = server.models

    assert (talker.parameters, talker.context_length) == (8_000_000_000, 4096)
    assert (talker.has_tools, embedder.is_embedder) == (True, True)
    assert describe_fitness(talker).code == "fit_short"


async def test_llama_server_discovery_reports_context_and_thinking_support() -> None:
    """By its properties; the number of its parameters by its list."""
    with running(FakeLlamaServer([FakeModel(name="../models/q.gguf", thinks=True)])) as fake:
        (server,) = await find(fake)
    (model,) = server.models

    assert (model.parameters, model.context_length) == (TALKER.parameters, 32_768)
    assert (model.has_tools, model.thinks) == (True, True)


async def test_vllm_discovery_reports_context_length_and_provider() -> None:
    """And what it serves; also where it listens on the port of a llama-server."""
    with running(FakeVllm([FakeModel(name="Qwen/Qwen3-30B-A3B", context=40_960)])) as fake:
        (server,) = await find(fake, "llama-server")
    (model,) = server.models

    assert server.provider == "vllm"
    assert (model.parameters, model.context_length) == (30_000_000_000, 40_960)


async def test_server_is_not_detected_as_another_provider() -> None:
    """LM Studio answers any question with a 200."""
    for fake in (FakeOllama([TALKER]), FakeLmStudio([TALKER]), FakeVllm([TALKER])):
        others = {"ollama", "lmstudio", "vllm"} - {fake.provider}
        with running(fake):
            for provider in others:
                assert await find(fake, provider) == []


@pytest.mark.parametrize(
    "body",
    ["", "{}", "[]", "null", "<html>", '{"models": [{}]}', '{"data": [{"id": 1}]}', "[" * 9_000],
)
async def test_unrelated_http_server_is_not_detected(body: str) -> None:
    """Whatever they answer."""
    async with raw_server(whole(body)) as server:
        places = [(provider, server.url) for provider in LOCAL_PROVIDERS]
        assert await find_servers(places) == []


@pytest.mark.parametrize("odd", ["{}", "7", '{"name": 7}', '{"name": "a\\nb"}', '{"name": ""}'])
async def test_a_model_without_a_usable_name_hides_no_others(odd: str) -> None:
    """The server is found with those that have one."""
    async with raw_server(whole(f'{{"models": [{odd}, {{"name": "llama3:8b"}}]}}')) as server:
        (found,) = await find_servers([("ollama", server.url)])

    assert [each.name for each in found.models] == ["llama3:8b"]


async def test_unreachable_or_invalid_addresses_yield_no_servers() -> None:
    """As on most machines; an address that is none is nobody's."""
    urls = ("http://127.0.0.1:9/v1", "http://localhost:x/v1", "http:///v1", "")
    assert await find_servers([(each, url) for each in LOCAL_PROVIDERS for url in urls]) == []


@pytest.mark.slow
async def test_silent_or_slow_server_does_not_delay_discovery() -> None:
    """And does not hide who does."""
    head = "HTTP/1.1 200 Yes\r\ncontent-length: 1000\r\n\r\n"
    drips: list[str | float] = [head, *[step for _ in range(40) for step in ("x", 0.1)]]
    began = time.monotonic()
    async with raw_server([5.0]) as silent, raw_server(drips) as slow:
        with running(FakeOllama([TALKER])) as fake:
            places = [("lmstudio", silent.url), ("vllm", slow.url), ("ollama", fake.base_url)]
            (found,) = await find_servers(places)

    assert found.provider == "ollama"
    assert time.monotonic() - began < 4


@pytest.mark.slow
def test_trickling_response_header_does_not_block_discovery() -> None:
    """Each byte comes within the patience for one; the loop does not wait for the thread."""
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        def trickle() -> None:
            connection, _ = listener.accept()
            with connection, suppress(OSError):
                for byte in b"HTTP/1.1 200 OK\r\n" + b"x" * 200:
                    if ended.wait(0.1):
                        return
                    connection.sendall(bytes([byte]))

        threading.Thread(target=trickle, daemon=True).start()
        began = time.monotonic()
        found = asyncio.run(find_servers([("ollama", f"http://127.0.0.1:{port}/v1")]))
        took = time.monotonic() - began
        ended.set()

    assert found == []
    assert took < SEARCH_TIMEOUT_S + 1


async def test_same_server_under_two_hostnames_is_listed_once() -> None:
    """As in a container that shares its machine's network."""
    with running(FakeOllama([TALKER])) as fake:
        other_name = fake.base_url.replace("127.0.0.1", "localhost")
        found = await find_servers([("ollama", fake.base_url), ("ollama", other_name)])

    assert [server.base_url for server in found] == [fake.base_url]


def model(name: str, billions: float | None, **more: object) -> LocalModel:
    """A model of some size."""
    size = None if billions is None else round(billions * 1e9)
    return LocalModel(name=name, parameters=size, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("candidate", "code"),
    [
        (model("a", 8), "fit_full"),
        (model("a", None), "fit_full"),
        (model("a", 3), "fit_small"),
        (model("a", 8, context_length=4096), "fit_short"),
        (model("a", 0.3, is_embedder=True), "fit_search"),
        (model("a:120b-cloud", 120), "fit_cloud"),
    ],
)
def test_model_fitness_is_described_by_kind_size_context_and_place(
    candidate: LocalModel, code: str
) -> None:
    """Kind, size, context, place."""
    assert describe_fitness(candidate).code == code


@pytest.mark.parametrize(
    ("models", "roles"),
    [
        ([model("s", 3), model("m", 8), model("e", 0.3, is_embedder=True)], {"main": "m"}),
        ([model("m", 8), model("l", 32), model("xl", 70)], {"main": "l", "reflect": "xl"}),
        (
            [model("no-tools", 14, has_tools=False), model("m", 8, has_tools=True)],
            {"main": "m", "reflect": "no-tools"},
        ),
        ([model("e", 0.3, is_embedder=True)], {"embedder": "e"}),
        ([model("a-cloud", 480)], {}),
        ([], {}),
    ],
)
def test_model_is_suggested_for_each_role(models: list[LocalModel], roles: dict[str, str]) -> None:
    """A quick one that can learn and use tools talks; a larger one may think; no cloud unasked."""
    server = LocalServer(provider="ollama", base_url="http://localhost:1/v1", models=tuple(models))

    assert suggest_roles(server) == roles
