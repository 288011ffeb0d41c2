"""What could be connected is known, and a choice is tried before it is kept."""

from dataclasses import replace
from pathlib import Path

import pytest

from oldfriend.app.charging import Tab
from oldfriend.app.choices.reaching import choice_of, may_be_asked
from oldfriend.app.choices.sections import EmbedderChoice, Models, Provider
from oldfriend.app.choices.settings import Settings, read_settings
from oldfriend.app.connecting import Wish, keep_model, keys_at_hand, stays_here, try_model
from oldfriend.app.wiring import Embedders
from oldfriend.domain.errors import EmbeddingFailed, ModelMisconfigured, ModelUnavailable
from tests.fakes.raw_server import raw_server, whole

SECRET = "sk-very-secret"
HELLO = {
    "id": "c", "object": "chat.completion", "created": 0, "model": "llama",
    "choices": [{"index": 0, "finish_reason": "stop",
                 "message": {"role": "assistant", "content": " Hello. "}}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11},
}  # fmt: skip


pytestmark = pytest.mark.usefixtures("bare_machine")


@pytest.fixture
def chosen(tmp_path: Path) -> Settings:
    """The settings of somebody who has chosen nothing."""
    return read_settings({}, data=str(tmp_path / "data"))


async def test_a_model_is_tried_with_the_key_before_either_is_kept(chosen: Settings) -> None:
    """One small question that says nothing of anybody."""
    async with raw_server(whole(HELLO)) as server:
        wish = Wish(provider="mine", name="llama", base_url=server.url, key=SECRET)
        assert await try_model(chosen, wish) == "Hello."

    assert len(server.bodies) == 1
    assert not chosen.file.exists()
    assert keys_at_hand(chosen) == []
    assert SECRET not in repr(wish)


async def test_a_model_that_fails_says_why(chosen: Settings) -> None:
    """So that it is not kept."""
    async with raw_server(whole({"error": {"message": "no"}}, status=503)) as server:
        with pytest.raises(ModelUnavailable):
            await try_model(chosen, Wish(provider="mine", name="x", base_url=server.url))


def test_with_a_providers_usual_model_come_its_usual_ones_for_the_rest(chosen: Settings) -> None:
    """With another one, that does everything."""
    usual, _ = keep_model(chosen, Wish(provider="openai", name="gpt-6.1-terra"))
    again = read_settings({}, data=str(chosen.data))
    other, _ = keep_model(chosen, Wish(provider="openai", name="gpt-9"))

    assert usual["small"] == "openai:gpt-6-luna"
    assert again.models.for_role("small") == ("openai:gpt-6-luna",)
    assert other == {"main": "openai:gpt-9"}
    assert read_settings({}, data=str(chosen.data)).models == Models(main=("openai:gpt-9",))


def test_a_choice_has_what_was_said_of_its_provider(chosen: Settings) -> None:
    """Address, language, patience; the key from where it was said to be."""
    settings = replace(
        chosen,
        providers={
            "mine": Provider(
                base_url="http://10.0.0.7/v1", kind="anthropic", key_from_env="K", connect_s=3
            )
        },
        environment={"K": SECRET},
    )
    choice = choice_of(settings, "mine:llama:7b")

    assert (choice.base_url, choice.kind, choice.name) == (
        "http://10.0.0.7/v1", "anthropic", "llama:7b",
    )  # fmt: skip
    assert choice.key == SECRET
    assert choice.patience.connect_s == 3
    with pytest.raises(ModelMisconfigured, match="no key for openai"):
        choice_of(settings, "openai:gpt-9")


@pytest.mark.parametrize(
    ("base_url", "stays"),
    [("http://localhost:1/v1", True), ("http://127.0.0.1/v1", True), ("http://10.0.0.7/v1", False),
     ("http://localhost.evil.example/v1", False)],
)  # fmt: skip
def test_it_is_known_whether_anything_leaves_the_machine(
    chosen: Settings, base_url: str, stays: bool
) -> None:
    """A name that only looks so does not count."""
    assert stays_here(chosen, Wish(provider="mine", name="x", base_url=base_url)) is stays


def test_an_embedder_of_before_is_asked_only_where_words_go_anyway(chosen: Settings) -> None:
    """Who has gone offline sends no question to the provider that embedded the rest."""
    openai, ollama = "openai:text-embedding-3-small/1536", "ollama:nomic-embed-text/768"

    assert not may_be_asked(chosen, openai)
    assert may_be_asked(chosen, ollama)
    assert may_be_asked(chosen, "all-MiniLM-L6-v2/int8-1")
    assert may_be_asked(replace(chosen, models=Models(main=("openai:gpt-9",))), openai)
    assert may_be_asked(
        replace(chosen, embedder=EmbedderChoice(model="openai:other", dimension=8)), openai
    )


async def test_a_stored_vector_leads_back_to_its_model(chosen: Settings) -> None:
    """As long as it can be reached; each is made once."""
    settings = replace(chosen, environment={"OPENAI_API_KEY": SECRET})
    offline, online = Embedders(settings, Tab()), Embedders(
        replace(settings, models=Models(main=("openai:gpt-9",))), Tab()
    )  # fmt: skip
    name = "openai:text-embedding-3-small/1536"

    assert offline.find_former(name) is None
    former = online.find_former(name)
    assert former is not None
    assert (former.model, former.dimension) == (name, 1536)
    assert online.find_former(name) is former
    assert online.find_former("all-MiniLM-L6-v2/int8-1") is online.present()
    assert online.find_former("all-MiniLM-L6-v2/int8-0") is None
    assert online.find_former("gone:model/7") is None
    await online.close()


async def test_a_chosen_embedder_that_cannot_be_reached_says_so_when_it_is_asked(
    chosen: Settings,
) -> None:
    """Opening the house goes well: words are found without it."""
    settings = replace(chosen, embedder=EmbedderChoice(model="openai:small", dimension=8))
    embedder = Embedders(settings, Tab()).present()

    assert (embedder.model, embedder.dimension) == ("openai:small/8", 8)
    with pytest.raises(EmbeddingFailed, match="no key for openai"):
        await embedder.embed(["hello"])
