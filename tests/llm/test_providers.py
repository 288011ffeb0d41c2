"""What a person writes names one model, or the error says what to write."""

import pytest

from oldfriend.domain.errors import ModelMisconfigured
from oldfriend.llm.providers import PROVIDERS, build_model_config, is_local_address


def test_a_known_provider_needs_a_name_and_a_key():
    """Address and language are as usual."""
    choice = build_model_config("anthropic:claude-sonnet-5-5", key="sk-secret")

    assert (choice.kind, choice.base_url) == ("anthropic", "https://api.anthropic.com")
    assert choice.model == "anthropic:claude-sonnet-5-5"


def test_a_key_does_not_show():
    """Not in a log, not in a trace."""
    assert "sk-secret" not in repr(build_model_config("openai:gpt-6-luna", key="sk-secret"))


def test_what_is_on_this_machine_needs_no_key():
    """And colons in names are part of them."""
    assert build_model_config("ollama:qwen3:8b").name == "qwen3:8b"


def test_an_unknown_provider_is_reached_by_its_address():
    """It speaks what all speak."""
    choice = build_model_config("mine:llama", base_url="http://10.0.0.7:9000/v1")

    assert (choice.kind, choice.provider) == ("openai", "mine")


def test_who_stands_in_for_openai_speaks_the_older_interface():
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
def test_what_is_missing_is_named(model, help_says):
    """The sentence says what to do."""
    with pytest.raises(ModelMisconfigured, match=help_says):
        build_model_config(model)


def test_the_usual_models_are_known_to_the_library():
    """So that the defaults are none that were never there."""
    names = pytest.importorskip("pydantic_ai.models").KnownModelName.__value__.__args__
    for provider, known in PROVIDERS.items():
        for name in {known.small, known.main, known.reflect} - {None}:
            bare = f"{provider}:{name}" if provider != "openrouter" else f"{name}"
            if provider == "openrouter":
                bare = bare.replace("/", ":").replace(".", "-")
            assert bare in names


@pytest.mark.parametrize("url", ["http://localhost:1", "http://127.0.0.1/v1", "http://[::1]:8/"])
def test_this_machine_is_known_by_its_addresses(url):
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
def test_a_name_that_looks_like_this_machine_is_not(url: str) -> None:
    """What goes there leaves it."""
    assert not is_local_address(url)
