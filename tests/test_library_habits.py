"""Who knows another memory library is told what to call here, and shown what there is."""

import importlib.resources
import inspect
import pydoc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import oldfriend
from oldfriend import Memory, MemorySync, OldfriendError
from oldfriend.domain.errors import InvalidInput, MemoryMisused, UnknownMethod


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Where the memory is."""
    return f"sqlite:///{tmp_path / 'memory.db'}"


@pytest.fixture
def memory(url: str) -> Iterator[MemorySync]:
    """Nora's memory."""
    with Memory.open(url, person="Nora", maintenance_s=0) as opened:
        yield opened


CALLS: list[tuple[Callable[[Any], object], str]] = [
    (lambda memory: memory.recall("cat", k=3), "k is called limit here"),
    (lambda memory: memory.recall("cat", user_id="nora"), r"Memory\.open\(url, person="),
    (lambda memory: memory.recall("cat", limt=3), r"Did you mean limit\?"),
    (lambda memory: memory.recall(), r"recall\(query, limit=10"),
    (lambda memory: memory.add("Hi.", session_id="s1"), '"session"'),
    (lambda memory: memory.facts("cat"), r"Call it as facts\(\)"),
    (lambda memory: memory.context("cat", max_tokens=5), "max_tokens is called budget here"),
]


@pytest.mark.parametrize(("call", "advice"), CALLS)
async def test_arguments_of_other_libraries_are_answered_with_ours(
    url: str, call: Callable[[Any], object], advice: str
) -> None:
    """Not with a TypeError of Python's own, whether the method is called or awaited."""
    with Memory.open(url, maintenance_s=0) as memory, pytest.raises(InvalidInput, match=advice):
        call(memory)
    async with Memory.open(url, maintenance_s=0) as awaited:
        with pytest.raises(InvalidInput, match=advice):
            await call(awaited)  # type: ignore[misc]


def test_a_memory_is_opened_not_made(url: str) -> None:
    """The first thing that users of other libraries write."""
    made: Callable[..., object] = Memory
    for given in ((), (url,)):
        with pytest.raises(MemoryMisused, match=r"Memory\.open"):
            made(*given)
    opened: Callable[..., object] = Memory.open
    with pytest.raises(InvalidInput, match=r"person="):
        opened(url, user_id="Nora")


@pytest.mark.parametrize(
    ("name", "ours"),
    [("search", "recall"), ("get_all", "messages"), ("delete", "forget"), ("recal", "recall")],
)
async def test_methods_of_other_libraries_are_answered_with_ours(
    url: str, name: str, ours: str
) -> None:
    """Open or not; and to ``hasattr`` it is a missing attribute as ever."""
    opening = Memory.open(url, maintenance_s=0)
    with opening as memory:
        async with Memory.open(url, maintenance_s=0) as awaited:
            for each in (opening, memory, awaited):
                assert not hasattr(each, name)
                with pytest.raises(UnknownMethod, match=rf"Did you mean {ours}\(\)\?") as raised:
                    getattr(each, name)
                assert isinstance(raised.value, OldfriendError)
                assert isinstance(raised.value, AttributeError)


def test_what_was_opened_has_the_methods_within_its_block(url: str) -> None:
    """``memory = Memory.open(…)`` and ``with memory:``, as with other resources."""
    memory = Memory.open(url, person="Nora", maintenance_s=0)
    with memory:
        assert memory.add([{"text": "My cat is called Miso."}]) == 1
        assert memory.recall("cat")[0].text == "My cat is called Miso."
    with pytest.raises(MemoryMisused, match="not open"):
        memory.recall("cat")


async def test_what_was_opened_has_the_awaited_methods_too(url: str) -> None:
    """Within ``async with``."""
    memory = Memory.open(url, maintenance_s=0)
    async with memory:
        assert await memory.add([{"text": "My cat is called Miso."}]) == 1
    with pytest.raises(MemoryMisused, match="not open"):
        memory.recall("cat")


def test_an_open_memory_may_be_entered_again_and_stays_open(memory: MemorySync) -> None:
    """A function that is given one may use it in a block of its own."""
    with memory as same:
        assert same is memory
    assert memory.add([{"text": "My cat is called Miso."}]) == 1


async def test_the_wrong_kind_of_block_is_answered_with_the_right_one(
    url: str, memory: MemorySync
) -> None:
    """Else Python says only that something lacks ``__aenter__``."""
    with pytest.raises(MemoryMisused, match="not awaited"):
        async with memory:
            pass
    async with Memory.open(url, maintenance_s=0) as awaited:
        with pytest.raises(MemoryMisused, match="are awaited"), awaited:
            pass
        async with awaited as same:
            assert same is awaited
        assert await awaited.messages() == []


def test_dir_and_help_show_what_is_public(url: str) -> None:
    """Before anything has been imported, and before a memory is open."""
    assert set(oldfriend.__all__) <= set(dir(oldfriend))
    assert not {"import_module", "HOMES", "TYPE_CHECKING"} & set(dir(oldfriend))
    assert "recall" in dir(Memory.open(url))
    shown = pydoc.render_doc(oldfriend, renderer=pydoc.plaintext)
    assert "class Memory(" in shown
    assert "recall(self, query: str, limit: int = 10" in shown
    assert inspect.iscoroutinefunction(Memory.recall)


def test_type_checkers_are_told_that_the_package_is_typed() -> None:
    """PEP 561: without the marker, they take everything for ``Any``."""
    assert importlib.resources.files("oldfriend").joinpath("py.typed").is_file()
