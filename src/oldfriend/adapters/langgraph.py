"""LangGraph store: items of a LangGraph ``BaseStore``, kept and searched in a memory."""

import asyncio
import operator
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from typing import Any, Final

from langgraph.store import base
from typing_extensions import override

from oldfriend.domain.clock import from_micros, system_clock
from oldfriend.domain.messages import MAX_TEXT_CHARS
from oldfriend.presenters.hit_schemas import Hit
from oldfriend.presenters.message_schemas import StoredMessage
from oldfriend.sdk.memory_sync import MemorySync

STORE: Final = "langgraph"
EVERYTHING: Final = 2**31
COMPARISONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


class OldfriendStore(base.BaseStore):
    """A store whose items are messages: found by words and meaning, and provably deleted.

    What a graph stores can be found and is no evidence about the person, since a model may have
    written it. ``graph.compile(store=OldfriendStore(memory))``, with a memory opened by ``with``.
    """

    def __init__(self, memory: MemorySync) -> None:
        """Keep the items in a memory."""
        self._memory = memory

    @override
    def batch(self, ops: Iterable[base.Op]) -> list[base.Result]:
        """Carry out operations in their order."""
        return [self._carry_out(op) for op in ops]

    @override
    async def abatch(self, ops: Iterable[base.Op]) -> list[base.Result]:
        """Carry out operations in their order, in a thread."""
        return await asyncio.to_thread(self.batch, [*ops])

    def _carry_out(self, op: base.Op) -> base.Result:
        if isinstance(op, base.PutOp):
            self._put(op)
            return None
        if isinstance(op, base.SearchOp):
            return self._search(op)
        if isinstance(op, base.ListNamespacesOp):
            return self._list_namespaces(op)
        found = self._find(op.namespace, op.key)
        return None if found is None else base.Item(**read_item(found))

    def _find(self, namespace: tuple[str, ...], key: str) -> StoredMessage | None:
        found = self._memory.messages(metadata={"item": build_id(namespace, key)}, limit=1)
        return found[0] if found else None

    def _put(self, op: base.PutOp) -> None:
        earlier = self._find(op.namespace, op.key)
        if op.value is None:
            if earlier is not None:
                self._memory.forget(earlier.id)
            return
        now = from_micros(system_clock(), "UTC").isoformat()
        metadata = {
            "store": STORE,
            "item": build_id(op.namespace, op.key),
            "within": [".".join(op.namespace[:end]) for end in range(1, len(op.namespace) + 1)],
            "namespace": [*op.namespace],
            "key": op.key,
            "value": op.value,
            "created_at": now if earlier is None else earlier.metadata["created_at"],
            "updated_at": now,
        }
        text = "\n".join(list_texts(op.value)) or op.key
        message = {"id": metadata["item"], "text": text[:MAX_TEXT_CHARS], "metadata": metadata}
        self._memory.add([{**message, "role": "system" if op.index is False else "tool"}])

    def _search(self, op: base.SearchOp) -> list[base.SearchItem]:
        wanted: dict[str, Any] = {"store": STORE}
        if op.namespace_prefix:
            wanted["within"] = ".".join(op.namespace_prefix)
        found: list[StoredMessage]
        if op.query:
            hits = self._memory.recall(op.query, EVERYTHING, kinds=["message"], metadata=wanted)
            found = [each for each in hits if isinstance(each, Hit)]
        else:
            found = self._memory.messages(metadata=wanted, limit=EVERYTHING)[::-1]
        fitting = [
            base.SearchItem(**read_item(each), score=each.score if isinstance(each, Hit) else None)
            for each in found
            if all(fits(read_item(each)["value"], *pair) for pair in (op.filter or {}).items())
        ]
        return fitting[op.offset : op.offset + op.limit]

    def _list_namespaces(self, op: base.ListNamespacesOp) -> list[tuple[str, ...]]:
        stored = self._memory.messages(metadata={"store": STORE}, limit=EVERYTHING)
        every = {read_item(each)["namespace"] for each in stored}
        wanted = op.match_conditions or ()
        fitting = [each for each in every if all(matches(each, one) for one in wanted)]
        namespaces = {each[: op.max_depth] for each in fitting}
        return sorted(namespaces)[op.offset : op.offset + op.limit]


def build_id(namespace: tuple[str, ...], key: str) -> str:
    """Return the id of an item, of one length however long its names are."""
    return sha256("\0".join((*namespace, key)).encode()).hexdigest()


def read_item(stored_message: StoredMessage) -> dict[str, Any]:
    """Return the fields of an item."""
    stored: dict[str, Any] = dict(stored_message.metadata)
    names = ("value", "key", "created_at", "updated_at")
    return {**{name: stored[name] for name in names}, "namespace": tuple(stored["namespace"])}


def list_texts(value: object) -> Iterator[str]:
    """List every text within a value, as its words are searched for."""
    if isinstance(value, str) and value.strip():
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from list_texts(each)


def fits(value: dict[str, Any], name: str, wanted: object) -> bool:
    """Return whether a value of an item is the wanted one, or compares as wanted."""
    conditions: dict[str, Any] = {"$eq": wanted}
    if isinstance(wanted, dict) and wanted.keys() <= COMPARISONS.keys():
        conditions = wanted
    return name in value and all(
        COMPARISONS[sign](value[name], other) for sign, other in conditions.items()
    )


def matches(namespace: tuple[str, ...], condition: base.MatchCondition) -> bool:
    """Return whether a namespace begins or ends with a path, in which * stands for any label."""
    path = condition.path
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[-len(path) :]
    return len(part) == len(path) and all(
        wanted in ("*", label) for label, wanted in zip(part, path, strict=True)
    )
