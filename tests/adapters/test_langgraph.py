"""LangGraph keeps its items here: its own graph, and the same steps as with its own store."""

from typing import Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from oldfriend import MemorySync
from oldfriend.adapters.langgraph import OldfriendStore

USERS = ("users", "nora")


class State(TypedDict):
    """What passes through the graph."""

    said: str
    found: list[str]


def remember(state: State, runtime: Runtime[None]) -> dict[str, Any]:
    """Store what was said, and look for what is known."""
    assert runtime.store is not None
    found = runtime.store.search(USERS, query=state["said"])
    runtime.store.put(USERS, state["said"], {"text": state["said"]})
    return {"found": [each.value["text"] for each in found]}


async def test_a_graph_finds_what_it_stored(memory_sync: MemorySync) -> None:
    """In another run, awaited or not; and a model's words are no evidence about the person."""
    builder = StateGraph(State)
    builder.add_node("remember", remember)
    builder.add_edge(START, "remember")
    builder.add_edge("remember", END)
    graph = builder.compile(store=OldfriendStore(memory_sync))

    first: State = {"said": "I live in Porto with my cat.", "found": []}
    graph.invoke(first)
    result = await graph.ainvoke({"said": "Where is the cat?", "found": []})

    assert result["found"] == ["I live in Porto with my cat."]
    assert memory_sync.facts() == []


def walk_through(store: BaseStore) -> list[Any]:
    """Do everything that a store does; return what it says."""
    for number in range(4):
        store.put((*USERS, "notes"), f"k{number}", {"text": f"Note {number}", "n": number})
    store.put(("users", "tom"), "k0", {"text": "Tom's", "n": 9, "deep": {"a": ["b"]}})
    store.put((*USERS, "notes"), "k1", {"text": "Note one", "n": 1})
    store.put((*USERS, "notes"), "k2", {"text": "Note 2", "n": 20})
    store.delete((*USERS, "notes"), "k3")
    store.delete((*USERS, "notes"), "unknown")
    notes = (*USERS, "notes")

    def keys(*prefix: str, **named: Any) -> list[str]:
        return sorted(each.key for each in store.search(prefix, **named))

    got = store.get(notes, "k1")
    tom = store.get(("users", "tom"), "k0")
    assert got is not None
    assert tom is not None
    assert got.created_at <= got.updated_at
    return [
        (got.value, got.key, got.namespace, tom.value),
        store.get(notes, "k3"),
        store.get((*USERS, "notes"), "unknown"),
        keys("users"),
        keys(*USERS),
        keys("users", "no"),
        keys(*notes, filter={"n": 20}),
        keys("users", filter={"n": {"$gte": 1, "$lt": 20}}),
        keys("users", filter={"text": {"$ne": "Note 0"}}),
        len(keys("users", limit=2)),
        len(keys("users", limit=10, offset=3)),
        store.list_namespaces(prefix=("users",)),
        store.list_namespaces(max_depth=1),
        store.list_namespaces(suffix=("notes",)),
        store.list_namespaces(prefix=("users", "*", "notes"), limit=1),
    ]


def test_it_does_what_langgraphs_own_store_does(memory_sync: MemorySync) -> None:
    """Put, get, delete, search, filter and list."""
    assert walk_through(OldfriendStore(memory_sync)) == walk_through(InMemoryStore())


def test_search_ranks_by_meaning_and_leaves_out_what_is_not_indexed(
    memory_sync: MemorySync,
) -> None:
    """With a score; and what is put with ``index=False`` is got by its key alone."""
    store = OldfriendStore(memory_sync)
    store.put(USERS, "pet", {"text": "Her cat is called Miso."})
    store.put(USERS, "home", {"text": "She lives by the river."})
    store.put(USERS, "hidden", {"text": "The cat is secret."}, index=False)

    found = store.search(USERS, query="What is the cat's name?")

    assert found[0].key == "pet"
    assert found[0].score is not None
    assert "hidden" not in [each.key for each in found]
    assert store.get(USERS, "hidden") is not None


@pytest.mark.parametrize("value", [{"n": 1}, {}, {"text": ""}])
def test_items_without_words_are_kept(memory_sync: MemorySync, value: dict[str, Any]) -> None:
    """Numbers alone, or nothing."""
    store = OldfriendStore(memory_sync)
    store.put(USERS, "k", value)
    found = store.get(USERS, "k")
    assert found is not None
    assert found.value == value


def test_an_item_that_expires_is_refused(memory_sync: MemorySync) -> None:
    """In LangGraph's own words, instead of being kept for ever."""
    store = OldfriendStore(memory_sync)
    with pytest.raises(NotImplementedError, match="TTL is not supported"):
        store.put(USERS, "pet", {"text": "Miso"}, ttl=5)

    assert store.get(USERS, "pet") is None
