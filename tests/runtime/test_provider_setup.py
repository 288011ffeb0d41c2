"""What could be connected is known, and a choice is tried before it is kept."""

from dataclasses import replace
from pathlib import Path

import pytest

from oldfriend.app.spend_limits import PendingCharges
from oldfriend.config.provider_resolution import can_send_to_model, resolve_model
from oldfriend.config.settings import Settings, load_settings
from oldfriend.config.settings_file import update_settings_file
from oldfriend.config.settings_schema import EmbedderSettings, ModelSettings, ProviderSettings
from oldfriend.domain.errors import EmbeddingFailed, ModelMisconfigured, ModelUnavailable
from oldfriend.llm.local_models import LocalModel, LocalServer
from oldfriend.runtime import provider_setup
from oldfriend.runtime.provider_setup import (
    ProviderSetup,
    is_local,
    list_key_offers,
    list_places,
    save_model,
    try_model,
)
from oldfriend.runtime.wiring import EmbedderRegistry
from tests.fakes.raw_server import raw_server, whole

SECRET = "sk-very-secret"
HELLO = {
    "id": "c",
    "object": "chat.completion",
    "created": 0,
    "model": "llama",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": " Hello. "},
        }
    ],
    "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11},
}


pytestmark = pytest.mark.usefixtures("bare_machine")


@pytest.fixture
def chosen(tmp_path: Path) -> Settings:
    """The settings of somebody who has chosen nothing."""
    return load_settings({}, data=str(tmp_path / "data"))


async def test_model_is_tested_before_model_and_key_are_stored(chosen: Settings) -> None:
    """One small question that says nothing of anybody."""
    async with raw_server(whole(HELLO)) as server:
        wish = ProviderSetup(provider="mine", name="llama", base_url=server.url, key=SECRET)
        assert await try_model(chosen, wish) == "Hello."

    assert len(server.bodies) == 1
    assert not chosen.file.exists()
    assert list_key_offers(chosen) == []
    assert SECRET not in repr(wish)


async def test_failing_model_test_raises_the_reason(chosen: Settings) -> None:
    """So that it is not kept."""
    async with raw_server(whole({"error": {"message": "no"}}, status=503)) as server:
        with pytest.raises(ModelUnavailable):
            await try_model(chosen, ProviderSetup(provider="mine", name="x", base_url=server.url))


def test_local_servers_are_probed_at_default_and_configured_addresses(
    chosen: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a container also on the machine that runs it; never at a forbidden address."""
    gateways = ("host.docker.internal", "169.254.1.1")
    monkeypatch.setattr(provider_setup, "list_host_gateways", lambda: gateways)
    settings = replace(
        chosen, providers={"vllm": ProviderSettings(base_url="http://10.0.0.7:9000/v1")}
    )

    assert list_places(settings) == [
        ("ollama", "http://localhost:11434/v1"),
        ("ollama", "http://host.docker.internal:11434/v1"),
        ("lmstudio", "http://localhost:1234/v1"),
        ("lmstudio", "http://host.docker.internal:1234/v1"),
        ("llama-server", "http://localhost:8080/v1"),
        ("llama-server", "http://host.docker.internal:8080/v1"),
        ("vllm", "http://10.0.0.7:9000/v1"),
    ]


def test_configured_provider_address_is_not_probed_again(chosen: Settings) -> None:
    """It is known already."""
    mine = ProviderSettings(base_url="http://localhost:1234/v1")
    settings = replace(chosen, providers={"mine": mine})

    assert ("lmstudio", "http://localhost:1234/v1") in list_places(chosen)
    assert ("lmstudio", "http://localhost:1234/v1") not in list_places(settings)


def test_explicitly_chosen_small_preset_stays_with_a_large_model(chosen: Settings) -> None:
    """They are taken back only from a small model before."""
    server = LocalServer(
        provider="ollama",
        base_url="http://localhost:11434/v1",
        models=(
            LocalModel(name="tiny", parameters=10**9),
            LocalModel(name="big", parameters=8 * 10**9),
            LocalModel(name="bigger", parameters=30 * 10**9),
        ),
    )

    def connect(name: str) -> tuple[str, int]:
        settings = load_settings({}, data=str(chosen.data))
        save_model(settings, ProviderSetup(provider="ollama", name=name), server)
        now = load_settings({}, data=str(chosen.data))
        return now.context.preset, now.memory.passes

    fitted = [connect(name) for name in ("big", "tiny", "bigger")]
    update_settings_file(chosen.file, {"context.preset": "small", "memory.passes": 2})

    assert fitted == [("normal", 1), ("small", 2), ("normal", 1)]
    assert connect("big") == ("small", 2)


def test_default_provider_model_sets_its_default_small_model(chosen: Settings) -> None:
    """With another one, that does everything."""
    usual, _ = save_model(chosen, ProviderSetup(provider="openai", name="gpt-6.1-terra"))
    again = load_settings({}, data=str(chosen.data))
    other, _ = save_model(chosen, ProviderSetup(provider="openai", name="gpt-9"))

    assert usual["small"] == "openai:gpt-6-luna"
    assert again.models.for_role("small") == ("openai:gpt-6-luna",)
    assert other == {"main": "openai:gpt-9"}
    assert load_settings({}, data=str(chosen.data)).models == ModelSettings(main=("openai:gpt-9",))


def test_resolved_model_uses_the_provider_settings(chosen: Settings) -> None:
    """Address, language, patience; the key from where it was said to be."""
    settings = replace(
        chosen,
        providers={
            "mine": ProviderSettings(
                base_url="http://10.0.0.7/v1", kind="anthropic", key_from_env="K", connect_s=3
            )
        },
        environment={"K": SECRET},
    )
    choice = resolve_model(settings, "mine:llama:7b")

    assert (choice.base_url, choice.kind, choice.name) == (
        "http://10.0.0.7/v1",
        "anthropic",
        "llama:7b",
    )
    assert choice.key == SECRET
    assert choice.timeouts.connect_s == 3
    with pytest.raises(ModelMisconfigured, match="no key for openai"):
        resolve_model(settings, "openai:gpt-9")


@pytest.mark.parametrize(
    ("base_url", "stays"),
    [
        ("http://localhost:1/v1", True),
        ("http://127.0.0.1/v1", True),
        ("http://10.0.0.7/v1", False),
        ("http://localhost.evil.example/v1", False),
    ],
)
def test_provider_is_local_only_for_a_loopback_address(
    chosen: Settings, base_url: str, stays: bool
) -> None:
    """A name that only looks so does not count."""
    assert is_local(chosen, ProviderSetup(provider="mine", name="x", base_url=base_url)) is stays


def test_a_cloud_model_behind_a_local_address_is_not_local(chosen: Settings) -> None:
    """Ollama passes what is said to its cloud."""
    for name in ("gpt-oss:120b-cloud", "deepseek:cloud"):
        assert not is_local(
            chosen, ProviderSetup(provider="mine", name=name, base_url="http://127.0.0.1/v1")
        )


def test_former_embedder_is_used_only_if_local_or_its_provider_is_chosen(chosen: Settings) -> None:
    """Who has gone offline sends no question to the provider that embedded the rest."""
    openai, ollama = "openai:text-embedding-3-small/1536", "ollama:nomic-embed-text/768"

    assert not can_send_to_model(chosen, openai)
    assert can_send_to_model(chosen, ollama)
    assert can_send_to_model(chosen, "all-MiniLM-L6-v2/int8-1")
    assert can_send_to_model(replace(chosen, models=ModelSettings(main=("openai:gpt-9",))), openai)
    assert can_send_to_model(
        replace(chosen, embedder=EmbedderSettings(model="openai:other", dimension=8)), openai
    )


async def test_former_embedder_is_found_by_its_stored_model_name(chosen: Settings) -> None:
    """As long as it can be reached; each is made once."""
    settings = replace(chosen, environment={"OPENAI_API_KEY": SECRET})
    offline, online = (
        EmbedderRegistry(settings, PendingCharges()),
        EmbedderRegistry(
            replace(settings, models=ModelSettings(main=("openai:gpt-9",))), PendingCharges()
        ),
    )
    name = "openai:text-embedding-3-small/1536"

    assert offline.find_former(name) is None
    former = online.find_former(name)
    assert former is not None
    assert (former.model, former.dimension) == (name, 1536)
    assert online.find_former(name) is former
    assert online.find_former("all-MiniLM-L6-v2/int8-1") is online.get_current()
    assert online.find_former("all-MiniLM-L6-v2/int8-0") is None
    assert online.find_former("gone:model/7") is None
    await online.close()


async def test_embedder_without_key_fails_on_use_and_not_on_open(
    chosen: Settings,
) -> None:
    """Opening the house goes well: words are found without it."""
    settings = replace(chosen, embedder=EmbedderSettings(model="openai:small", dimension=8))
    embedder = EmbedderRegistry(settings, PendingCharges()).get_current()

    assert (embedder.model, embedder.dimension) == ("openai:small/8", 8)
    with pytest.raises(EmbeddingFailed, match="no key for openai"):
        await embedder.embed(["hello"])
