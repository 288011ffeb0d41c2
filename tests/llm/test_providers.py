"""What a person writes names one model, or the error says what to write."""

import pytest

from oldfriend.domain.errors import ModelMisconfigured
from oldfriend.llm.providers import PROVIDERS, build_model_config, is_local_address


def test_known_provider_has_a_default_kind_and_address():
    """Address and language are as usual."""
    choice = build_model_config("anthropic:claude-sonnet-5-5", key="sk-secret")

    assert (choice.kind, choice.base_url) == ("anthropic", "https://api.anthropic.com")
    assert choice.model == "anthropic:claude-sonnet-5-5"


def test_api_key_is_hidden_in_the_repr():
    """Not in a log, not in a trace."""
    assert "sk-secret" not in repr(build_model_config("openai:gpt-6-luna", key="sk-secret"))


def test_local_provider_needs_no_key():
    """And colons in names are part of them."""
    assert build_model_config("ollama:qwen3:8b").name == "qwen3:8b"


def test_unknown_provider_with_an_address_uses_the_openai_api():
    """It speaks what all speak."""
    choice = build_model_config("mine:llama", base_url="http://10.0.0.7:9000/v1")

    assert (choice.kind, choice.provider) == ("openai", "mine")


def test_openai_at_another_address_uses_the_chat_api():
    """Few imitate the newer one."""
    assert build_model_config("openai:x", key="k").kind == "openai-responses"
    assert build_model_config("openai:x", base_url="http://proxy/v1").kind == "openai"
    assert build_model_config(
        "openai:x", base_url="http://proxy/v1", kind="openai-responses"
    ).kind.endswith("s")


@pytest.mark.parametrize(
    ("model", "help_says"),
    [
        ("gpt-6", "provider:name"),
        ("mine:llama", "base_url"),
        ("openai:gpt-6-luna", "OPENAI_API_KEY"),
        ("google:gemini-3.8-flash", "GEMINI_API_KEY or GOOGLE_API_KEY"),
    ],
)
def test_missing_setting_is_named_in_the_error(model, help_says):
    """The sentence says what to do."""
    with pytest.raises(ModelMisconfigured, match=help_says):
        build_model_config(model)


def test_default_models_are_known_to_pydantic_ai():
    """So that the defaults are none that were never there."""
    names = pytest.importorskip("pydantic_ai.models").KnownModelName.__value__.__args__
    for provider, known in PROVIDERS.items():
        for name in {known.small, known.main, known.reflect} - {None}:
            bare = f"{provider}:{name}" if provider != "openrouter" else f"{name}"
            if provider == "openrouter":
                bare = bare.replace("/", ":").replace(".", "-")
            assert bare in names


@pytest.mark.parametrize("url", ["http://localhost:1", "http://127.0.0.1/v1", "http://[::1]:8/"])
def test_loopback_address_is_local(url):
    """What runs here costs nothing and needs no proxy."""
    assert is_local_address(url)
    assert not is_local_address("https://localhost.example.com/v1")


@pytest.mark.parametrize(
    "url",
    [
        "http://127.evil.com/v1",
        "http://127.0.0.1.evil.com",
        "http://127.0.0.1x/",
        "http://::1/",
        "http://localhost.evil.com",
        "http://xlocalhost/",
        "http://[::ffff:10.0.0.1]/",
    ],
)
def test_lookalike_of_a_loopback_address_is_not_local(url: str) -> None:
    """What goes there leaves it."""
    assert not is_local_address(url)
