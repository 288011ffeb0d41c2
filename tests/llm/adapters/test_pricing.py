"""What is not known is not taken for nothing, and what is nothing costs nothing."""

from decimal import Decimal

import pytest
from pydantic_ai.usage import RequestUsage

from oldfriend.llm.adapters.pricing import compute_price
from oldfriend.llm.providers import build_model_config

USAGE = RequestUsage(input_tokens=1_000_000, output_tokens=1_000_000)


def cost(model: str, usage: RequestUsage = USAGE, *, answered_by: str | None = None, **fields):
    return compute_price(build_model_config(model, key="k", **fields), usage, answered_by)


def test_known_model_at_its_usual_address_has_a_price():
    """2 dollars for a million tokens in, 10 for a million out."""
    assert cost("anthropic:claude-sonnet-5-5") == 12_000_000


def test_price_uses_the_model_name_that_answered():
    """An alias has no price, what stands behind it has."""
    assert cost("anthropic:latest") is None
    assert cost("anthropic:latest", answered_by="claude-sonnet-5-5") == 12_000_000


def test_cached_tokens_are_cheaper():
    """That is what they are for."""
    half = RequestUsage(input_tokens=1000, cache_read_tokens=900, output_tokens=10)
    none = RequestUsage(input_tokens=1000, output_tokens=10)

    assert cost("anthropic:claude-sonnet-5-5", half) < cost("anthropic:claude-sonnet-5-5", none)


def test_small_cost_is_rounded_up():
    """It is rounded up."""
    assert cost("openai:gpt-6-luna", RequestUsage(input_tokens=1)) == 1


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        ("mine:claude-sonnet-5-5", {"base_url": "https://models.example.com/v1"}),
        ("openai:gpt-6-luna", {"base_url": "https://models.example.com/v1"}),
        ("ollama:llama", {"base_url": "http://192.168.1.7:11434/v1"}),
        ("ollama:gpt-oss:120b-cloud", {}),
        ("openai:never-heard-of", {}),
    ],
)
def test_price_is_unknown_at_another_address_or_for_an_unknown_model(model, fields):
    """Also when the model has a price elsewhere."""
    assert cost(model, **fields) is None


def test_local_model_costs_nothing():
    """Power aside."""
    assert cost("ollama:llama3.2") == 0
    assert cost("ollama:llama3.2", RequestUsage()) == 0


def test_price_is_unknown_without_token_counts():
    """Some imitations report none."""
    assert cost("openai:gpt-6-luna", RequestUsage()) is None


def test_price_reported_by_the_provider_is_used():
    """OpenRouter does."""
    usage = RequestUsage(input_tokens=5, cost=Decimal("0.0000015"))

    assert cost("openrouter:x/y", usage) == 2


@pytest.mark.parametrize("told", ["NaN", "Infinity", "-1"])
def test_invalid_reported_price_is_unknown(told: str) -> None:
    """JSON as some write it knows more numbers than money does."""
    assert cost("openrouter:x/y", RequestUsage(input_tokens=5, cost=Decimal(told))) is None
