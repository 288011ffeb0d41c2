"""What is shown is described to programs, and costs commands nothing but itself."""

import subprocess
import sys
from dataclasses import dataclass, field, fields

import pytest
from pydantic import TypeAdapter, ValidationError

from oldfriend.api.web_app import build_routes
from oldfriend.presenters.base_schema import Schema, describe
from oldfriend.presenters.sign_in_schemas import CreatedTokenSchema, TokenListSchema, TokenSchema

COMMANDS = [
    "beliefs",
    "consolidate_cmd",
    "core",
    "diff",
    "forget",
    "import_cmd",
    "jobs",
    "memory_cmd",
    "recall",
    "say",
    "stats",
    "status",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown(Schema):
    """A thing."""

    name: str = field(metadata=describe("How it is called.", examples=["Ana"]))
    parts: tuple[int, ...] = ()


def test_commands_do_not_import_pydantic() -> None:
    """It takes a tenth of a second to load, and only the API needs it."""
    imports = "; ".join(f"import oldfriend.cli.{each}" for each in COMMANDS)
    ended = subprocess.run(
        [sys.executable, "-c", f"{imports}; import oldfriend.sdk, sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert not {"pydantic", "pydantic_core", "fastapi"} & set(ended.stdout.split())


def test_json_schema_describes_the_fields_of_a_schema() -> None:
    """With what ``describe`` was given, and nothing else may be sent."""
    schema = TypeAdapter(Shown).json_schema(mode="serialization")

    assert schema["properties"]["name"]["description"] == "How it is called."
    assert schema["properties"]["name"]["examples"] == ["Ana"]
    assert schema["properties"]["parts"]["type"] == "array"
    assert schema["additionalProperties"] is False
    with pytest.raises(ValidationError):
        TypeAdapter(Shown).validate_python({"name": "Ana", "other": 1})


def test_schema_serializers_are_prebuilt_and_serialize_their_own_fields() -> None:
    """Also within others; one that is built on another says its own, and the other none of it."""
    build_routes()
    common = {"id": "t", "name": "n", "scope": "read", "made_at": "a", "expires_at": "b"}
    token = TokenSchema(**common, is_over=False, used_at=None)
    made = CreatedTokenSchema(**common, is_over=False, used_at=None, token="secret")
    listed = TypeAdapter(TokenListSchema).dump_python(TokenListSchema(items=(token,)))
    told = TypeAdapter(CreatedTokenSchema).dump_python(made)

    assert "PrebuiltSerializer" in repr(TypeAdapter(tuple[TokenListSchema, ...]).serializer)
    assert listed["items"][0].keys() == {each.name for each in fields(TokenSchema)}
    assert told == {**listed["items"][0], "token": "secret"}
