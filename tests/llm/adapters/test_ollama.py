"""An Ollama on this machine is found, and none is no trouble."""

import pytest

from oldfriend.llm.adapters.ollama import list_ollama_models
from tests.fakes.raw_server import raw_server, whole


async def test_its_models_are_listed():
    """By the names under which they are asked."""
    tags = {"models": [{"name": "qwen3:8b", "size": 1}, {"name": "llama3.2:latest", "size": 2}]}
    async with raw_server(whole(tags)) as server:
        assert await list_ollama_models(server.url) == ["qwen3:8b", "llama3.2:latest"]


@pytest.mark.parametrize("body", ["", "{}", "[]", "null", "<html>", '{"models": [{}]}'])
async def test_somebody_else_who_listens_there_is_not_ollama(body):
    """Whatever they answer."""
    async with raw_server(whole(body)) as server:
        assert await list_ollama_models(server.url) == []


async def test_nobody_is_there():
    """As on most machines."""
    assert await list_ollama_models("http://127.0.0.1:9") == []


@pytest.mark.slow
async def test_somebody_who_never_answers_is_not_waited_for():
    """A second at most."""
    async with raw_server([5.0]) as server:
        assert await list_ollama_models(server.url) == []
