"""Programs add messages as they have them: as models take them, and with metadata of their own."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from oldfriend import Hit, Memory, MemorySync
from oldfriend.domain.errors import InvalidInput


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[MemorySync]:
    """Nora's memory."""
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    with Memory.open(url, person="Nora", maintenance_s=0) as opened:
        yield opened


@dataclass(frozen=True)
class ChainMessage:
    """A message with the attributes of LangChain's."""

    content: Any
    type: str
    name: str | None = None


def test_messages_of_models_keep_who_said_them(memory: MemorySync) -> None:
    """A transcript goes in as it went to the model, and what the model said is not the person's."""
    transcript = [
        {"role": "system", "content": "You are a helpful assistant for gardens."},
        {"role": "user", "content": "I live in Porto, and I grow lemons."},
        {"role": "assistant", "content": "You live in Lisbon? Lemons like sun."},
        {"role": "user", "content": [{"type": "text", "text": "My cat is called Miso."}]},
        {"role": "tool", "content": "The weather in Porto is fine.", "tool_call_id": "c1"},
    ]

    assert memory.add(transcript) == 5

    roles = ["system", "person", "companion", "person", "tool"]
    assert [each.role for each in memory.messages()] == roles
    assert [each.speaker for each in memory.messages()][1] == "Nora"
    assert {each.value for each in memory.facts()} >= {"Porto"}
    assert "Lisbon" not in {each.value for each in memory.facts()}
    assert memory.recall("cat")[0].text == "My cat is called Miso."
    assert not [each for each in memory.recall("garden assistant") if "helpful" in each.text]


def test_message_objects_of_other_libraries_are_read(memory: MemorySync) -> None:
    """By their attributes; a type that is no role says nothing."""
    memory.add([ChainMessage("I live in Porto.", "human"), ChainMessage("Nice.", "ai")])
    memory.add([{"type": "message", "role": "user", "content": ["Hello", {"type": "image"}]}])

    assert [(each.role, each.text) for each in memory.messages()] == [
        ("person", "I live in Porto."),
        ("companion", "Nice."),
        ("person", "Hello"),
    ]


@pytest.mark.parametrize(
    "one", ["I live in Porto.", {"role": "user", "content": "I live in Porto."}]
)
def test_a_single_message_needs_no_list(memory: MemorySync, one: Any) -> None:
    """As many libraries take it."""
    assert memory.add(one) == 1
    assert memory.messages()[0].role == "person"


def test_content_without_text_is_refused_by_its_number(memory: MemorySync) -> None:
    """A picture alone, or a call of a tool."""
    for content in ([{"type": "image_url", "image_url": "x"}], None, 5, []):
        with pytest.raises(InvalidInput, match="Message 0 has no text"):
            memory.add([{"role": "assistant", "content": content}])


def test_metadata_is_kept_and_returned(memory: MemorySync) -> None:
    """As it was given, with the message, its hits and its JSON."""
    metadata = {
        "project": "boat",
        "stars": 4,
        "tags": ["hull", "paint"],
        "nested": {"a": [1, None]},
    }
    memory.add([{"content": "The hull needs blue paint.", "metadata": metadata}])

    hit = memory.recall("What paint does the hull need?", kinds=["message"])[0]

    assert isinstance(hit, Hit)
    assert hit.metadata == metadata
    assert hit.as_json()["metadata"] == metadata
    assert memory.messages()[0].metadata == metadata


def test_recall_finds_only_what_has_the_metadata(memory: MemorySync) -> None:
    """However much else fits better; beliefs count that rest on such messages."""
    memory.add([{"text": f"The boat is number {number}."} for number in range(40)])
    memory.add(
        [
            {"text": "I live in Porto.", "metadata": {"project": "home", "tags": ["a", "b"]}},
            {"text": "My boat is called Ada.", "metadata": {"project": "sea"}},
            {"text": "The boat is red.", "metadata": {"project": "sea", "is_old": True}},
        ]
    )
    memory.facts()

    found = memory.recall("What is my boat called?", 20, metadata={"project": "sea"})
    at_home = memory.recall("Where do I live?", 20, metadata={"tags": "b"})

    assert found[0].text.count("Ada")
    assert {each.text for each in found if isinstance(each, Hit)} <= {
        "My boat is called Ada.",
        "The boat is red.",
    }
    assert {each.kind for each in at_home} == {"message", "fact"}
    assert all("Porto" in each.text for each in at_home)
    assert memory.recall("boat", metadata={"project": "sky"}) == []
    assert memory.recall("boat", metadata={"is_old": 1}) == []
    assert len(memory.recall("boat", metadata={"is_old": True}, kinds=["message"])) == 1


def test_messages_are_listed_by_metadata(memory: MemorySync) -> None:
    """The newest of them, in order, within a span of time."""
    memory.add(
        [
            {"text": f"Line {n}.", "at": f"2024-05-0{n}T10:00", "metadata": {"even": n % 2 == 0}}
            for n in range(1, 9)
        ]
    )

    even = memory.messages(metadata={"even": True}, limit=3)
    early = memory.messages(metadata={"even": True}, until="2024-05-05")

    assert [each.text for each in even] == ["Line 4.", "Line 6.", "Line 8."]
    assert [each.text for each in early] == ["Line 2.", "Line 4."]
    assert len(memory.messages(metadata={})) == 8


def test_metadata_can_be_changed_under_the_same_id(memory: MemorySync) -> None:
    """As a new version; without metadata the earlier stays."""
    message = {"id": "m1", "text": "The hull is done."}
    memory.add([{**message, "metadata": {"state": "open"}}])
    assert memory.add([message]) == 0
    assert memory.messages()[0].metadata == {"state": "open"}

    memory.add([{**message, "metadata": {"state": "done"}}])

    assert [each.metadata for each in memory.messages()] == [{"state": "done"}]
    assert memory.messages(metadata={"state": "open"}) == []


def test_forgetting_takes_the_metadata_along(memory: MemorySync, tmp_path: Path) -> None:
    """It may hold words as well."""
    memory.add([{"text": "The hull is done.", "metadata": {"note": "zanzibar"}}])

    assert memory.forget(memory.messages()[0].id).is_proved

    assert b"zanzibar" not in b"".join(each.read_bytes() for each in tmp_path.glob("memory.db*"))


@pytest.mark.parametrize(
    "wrong",
    ["boat", ["boat"], {1: "a"}, {"a": object()}, {"a": float("nan")}, {"a": "x" * 300_000}],
)
def test_metadata_that_cannot_be_stored_is_refused(memory: MemorySync, wrong: Any) -> None:
    """By the number of the message, and as a filter by its name."""
    with pytest.raises(InvalidInput, match="Message 1 has a 'metadata'"):
        memory.add([{"text": "fine"}, {"text": "x", "metadata": wrong}])
    for use in (memory.messages, lambda **named: memory.recall("x", **named)):
        with pytest.raises(InvalidInput, match="metadata"):
            use(metadata=wrong)
    assert memory.messages() == []
