"""A model server on this machine is found, connected with one command, talked with, and learns."""

from pathlib import Path

import pytest

from oldfriend.config.settings import load_settings
from tests.cli.conftest import Call
from tests.fakes.local_servers import (
    FakeLlamaServer,
    FakeLmStudio,
    FakeModel,
    FakeOllama,
    FakeServer,
    FakeVllm,
    running,
)

KINDS = (FakeOllama, FakeLmStudio, FakeLlamaServer, FakeVllm)
HOME = "I live in Porto, by the river."
READ = {
    "self_check": {"missed_peak": "none", "attribution": "the person's own words"},
    "facts": [
        {
            "key": "location",
            "value": "Porto",
            "text": "Lives in Porto, by the river.",
            "subject": "person",
            "signal": "explicit",
            "confidence": 0.95,
            "bearing": "new",
            "quotes": [{"message": "m3", "text": HOME}],
        }
    ],
}

pytestmark = pytest.mark.usefixtures("bare_machine")


@pytest.fixture(autouse=True)
def nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers of whoever runs the tests are not looked for."""
    for kind in KINDS:
        name = kind.provider.upper().replace("-", "_")
        monkeypatch.setenv(f"OLDFRIEND_PROVIDERS_{name}_BASE_URL", "http://127.0.0.1:9/v1")


def put(monkeypatch: pytest.MonkeyPatch, fake: FakeServer) -> None:
    """Have a server looked for where a fake listens."""
    name = fake.provider.upper().replace("-", "_")
    monkeypatch.setenv(f"OLDFRIEND_PROVIDERS_{name}_BASE_URL", fake.base_url)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.provider)
@pytest.mark.parametrize("size", [8, 3])
def test_local_model_server_is_discovered_connected_and_used_for_learning(
    call: Call, data: Path, monkeypatch: pytest.MonkeyPatch, kind: type[FakeServer], size: int
) -> None:
    """Nothing is used before the yes; a small model gets short prompts and reads in two passes."""
    model = FakeModel(name=f"qwen3-{size}b", parameters=size * 10**9, context=65_536)
    with running(kind([model], answers=READ)) as fake:
        put(monkeypatch, fake)
        call("say", "Good morning.")
        doctor = call("doctor")
        asked_before = fake.chats
        connected = call("connect", "model", "--yes")
        said = call("say", HOME)
        read = call("consolidate", "--now")
        facts = call("facts", "--json")

    settings = load_settings({}, data=str(data))
    assert f"You could connect: {fake.provider} (runs on this machine)" in doctor.stdout
    assert asked_before == []
    assert connected.code == 0, connected.stderr
    assert "nothing leaves it" in connected.stdout
    assert settings.models.main == (f"{fake.provider}:qwen3-{size}b",)
    assert "I hear you." in said.stdout, said.stderr
    assert read.code == 0, read.stderr
    assert "Porto" in facts.stdout
    small = ("small", 2) if size == 3 else ("normal", 1)
    assert (settings.context.preset, settings.memory.passes) == small
    schemas = [body for body in fake.chats if body.get("format") or body.get("response_format")]
    assert len(schemas) >= settings.memory.passes


def test_connect_model_rates_local_models_and_suggests_the_best(
    call: Call, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One question for the provider, one for the model, one for the yes."""
    models = [
        FakeModel(name="llama3.2:3b", parameters=3_212_749_888),
        FakeModel(name="qwen3:8b"),
        FakeModel(name="llama3.3:70b", parameters=70_553_706_560),
        FakeModel(name="nomic-embed-text:latest", embeds=True, context=2048),
    ]
    with running(FakeOllama(models)) as fake:
        put(monkeypatch, fake)
        refused = call("connect", "model", stdin="\n\nno\n")
        ended = call("connect", "model", stdin="\n\nyes\n")

    settings = load_settings({}, data=str(data))
    lines = [" ".join(line.split()) for line in ended.stdout.splitlines()]
    assert "1 ollama (runs on this machine)" in lines
    assert any(
        line.startswith("qwen3:8b good for talk and for learning, 8.0 billion parameters")
        for line in lines
    )
    assert any(line.startswith("nomic-embed-text:latest for search by") for line in lines)
    assert any("llama3.2:3b good for talk; too small to learn well" in line for line in lines)
    assert (refused.code, ended.code) == (1, 0)
    assert settings.models.main == ("ollama:qwen3:8b",)
    assert settings.models.reflect == ("ollama:llama3.3:70b",)


def test_connecting_a_larger_model_resets_small_model_settings(
    call: Call, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What somebody has chosen otherwise stays."""
    models = [FakeModel(name="s", parameters=10**9), FakeModel(name="l")]
    connect = ("connect", "model", "--provider", "ollama", "--yes", "--no-test", "--name")
    with running(FakeOllama(models)) as fake:
        put(monkeypatch, fake)
        small = call(*connect, "s")
        was = load_settings({}, data=str(data))
        call(*connect, "l")

    now = load_settings({}, data=str(data))
    assert "two passes" in small.stdout
    assert (was.context.preset, was.memory.passes) == ("small", 2)
    assert (now.context.preset, now.memory.passes) == ("normal", 1)


def test_connect_model_yes_without_provider_uses_no_environment_key(
    call: Call, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key is offered by its variable's name, and used only by the provider's."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    ended = call("connect", "model", "--yes", stdin="")

    assert ended.code == 2
    assert "openai (its key is in OPENAI_API_KEY)" in ended.stdout
    assert "very-secret" not in ended.stdout + ended.stderr
    assert not (data / "oldfriend.toml").exists()


def test_connect_embedder_suggests_only_embedding_models(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a model that talks is not."""
    models = [FakeModel(name="qwen3:8b"), FakeModel(name="bge-m3-embed:latest", embeds=True)]
    with running(FakeOllama(models)) as fake:
        put(monkeypatch, fake)
        ended = call("connect", "embedder", stdin="\n\nno\n")

    assert "Which model [bge-m3-embed:latest]" in ended.stdout
