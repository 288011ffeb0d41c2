"""A model reads the format of its answer once: as a schema, or in words."""

import pytest
from pydantic_ai.profiles import ModelProfile

from oldfriend.llm.adapters.ollama import build_messages
from oldfriend.llm.adapters.pydantic_ai_mapping import build_parameters
from oldfriend.llm.recorded_calls import hash_request
from tests.llm.request_fixtures import saying

SCHEMA = {"type": "object", "properties": {"age": {"type": "integer"}}}
FORM = 'The form: {"age": 7}'
REQUEST = saying("How old is she?", output=SCHEMA, output_form=FORM)


@pytest.mark.parametrize(
    ("has_schema", "is_local", "mode", "is_in_words"),
    [
        (True, False, "native", False),
        (False, False, "prompted", True),
        (True, True, "native", True),  # it is held to the schema, and never sees it
    ],
)
def test_output_form_is_sent_in_words_when_the_model_does_not_see_a_schema(
    has_schema: bool, is_local: bool, mode: str, is_in_words: bool
) -> None:
    """Never as a tool, too."""
    profile = ModelProfile(supports_json_schema_output=has_schema)

    sent = build_parameters(REQUEST, profile, is_local=is_local)

    told = "".join(part.content for part in sent.instruction_parts or ())
    assert (sent.output_mode, FORM in told) == (mode, is_in_words)
    assert (sent.output_tools, sent.prompted_output_instructions) == ([], None)


def test_ollama_prompt_includes_the_output_form() -> None:
    """Its grammar costs nothing and tells the model nothing."""
    system, *_ = build_messages(REQUEST, has_tools=False)

    assert FORM in str(system)


def test_request_hash_is_unchanged_without_an_output_form() -> None:
    """What was answered before there were forms is found still."""
    assert hash_request(saying("Hi")) == hash_request(saying("Hi", output_form=""))
    assert hash_request(REQUEST) != hash_request(saying("How old is she?", output=SCHEMA))
