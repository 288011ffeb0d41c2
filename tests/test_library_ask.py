"""A program asks a question and gets an answer in words, by the model that is connected."""

from pathlib import Path

import pytest

import oldfriend
from oldfriend import Memory
from oldfriend.domain.errors import InvalidInput, ModelNotSetUp
from tests.fakes.model_server import ModelServer
from tests.llm.conftest import provider, running_provider

__all__ = ["provider", "running_provider"]


def test_without_a_model_it_is_said_what_to_do(tmp_path: Path) -> None:
    """By an error of its own, before anything is looked for."""
    with Memory.open(f"sqlite:///{tmp_path / 'memory.db'}", maintenance_s=0) as memory:
        memory.add("My cat is called Miso.")
        with pytest.raises(ModelNotSetUp, match=r"recall\(\).*OLDFRIEND_MODELS_MAIN"):
            memory.ask("What is my cat called?")
        with pytest.raises(InvalidInput, match="query"):
            memory.ask(5)  # type: ignore[arg-type]


@pytest.mark.slow
def test_the_connected_model_answers_from_what_is_recalled(
    tmp_path: Path, provider: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is shown the words and the day, and nothing of it becomes part of the memory."""
    provider.answers({"match": {"userMessage": "cat"}, "response": {"content": "She is Miso."}})
    monkeypatch.setenv("OLDFRIEND_PROVIDERS_MINE_KIND", "openai")
    monkeypatch.setenv("OLDFRIEND_PROVIDERS_MINE_BASE_URL", f"{provider.url}/v1")
    monkeypatch.setenv("OLDFRIEND_MODELS_MAIN", "mine:one")
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    with Memory.open(url, person="Nora", maintenance_s=0) as memory:
        memory.add([{"text": "My cat is called Miso.", "at": "2024-05-03T18:30"}])
        memory.add([{"text": "My dog is called Rex.", "metadata": {"kind": "dog"}}])

        answer = memory.ask("What is my cat called?")

        asked = str(provider.requests()[-1])
        assert isinstance(answer, oldfriend.Answer)
        assert (answer.text, answer.model) == ("She is Miso.", "mine:one")
        assert "My cat is called Miso." in {each.text for each in answer.hits}
        assert "2024-05-03" in asked
        assert "My cat is called Miso." in asked
        memory.ask("Is my cat a dog?", metadata={"kind": "dog"})
        assert "My cat is called Miso." not in str(provider.requests()[-1])
        assert len(memory.messages()) == 2
