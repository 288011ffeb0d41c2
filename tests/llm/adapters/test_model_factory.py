"""Providers are imported when one is chosen, and not before."""

import subprocess
import sys

import pytest

from oldfriend.llm.adapters.model_factory import build_model
from oldfriend.llm.adapters.pydantic_ai_model import warm_up_client
from oldfriend.llm.providers import build_model_config

HEAVY = "{'pydantic_ai', 'openai', 'anthropic', 'genai_prices', 'pydantic', 'httpx2'}"


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_provider_libraries_are_imported_lazily():
    """The offline companion starts as fast as without them."""
    modules = (
        "fallback, providers, recorded_calls, scripted, speech, adapters.model_factory, "
        "adapters.local_servers, adapters.whisper"
    )
    imports = "\n".join(f"import oldfriend.llm.{name}" for name in modules.split(", "))

    assert run(f"{imports}\nimport sys\nprint({HEAVY} & set(sys.modules))") == "set()\n"


def test_missing_extra_is_named_with_its_install_command():
    """With the command that installs it."""
    code = """
import sys
sys.modules["pydantic_ai"] = None
from oldfriend.domain.errors import ModelMisconfigured
from oldfriend.llm.adapters.model_factory import build_model, warm_up
from oldfriend.llm.providers import build_model_config
for act in (build_model, warm_up):
    try:
        act(build_model_config("vllm:llama3.2"))
    except ModelMisconfigured as error:
        print(error)
"""
    assert run(code).count('pip install "oldfriend[models]"') == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["vllm:a", "openai:gpt-6-luna", "anthropic:claude-haiku-5-5"])
def test_warm_up_response_is_parsed_by_current_clients(name):
    """Else they would not be warm."""
    assert warm_up_client(build_model_config(name, key="k"))


async def test_unused_model_can_be_closed():
    """Without having been asked."""
    await build_model(build_model_config("ollama:llama3.2")).close()
