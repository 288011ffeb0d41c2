"""Call checks: answers a call that cannot be right with what to call instead, not a TypeError."""

import inspect
from collections.abc import Callable, Collection
from difflib import get_close_matches
from functools import wraps
from typing import Any, Final, TypeVar

from oldfriend.app.app_context import AppContext
from oldfriend.domain.errors import InvalidInput, MemoryMisused, UnknownMethod

T = TypeVar("T")
Method = Callable[..., Any]

OPEN_HINT: Final = "Open a memory with `with Memory.open(url, person=...) as memory:`."
METHODS_ELSEWHERE: Final = {
    "aadd": "add",
    "add_memory": "add",
    "add_message": "add",
    "add_messages": "add",
    "aget_messages": "messages",
    "asearch": "recall",
    "chat": "ask",
    "clear": "forget",
    "delete": "forget",
    "delete_all": "forget",
    "from_config": "open",
    "get": "messages",
    "get_all": "messages",
    "get_context": "context",
    "get_memories": "beliefs",
    "get_messages": "messages",
    "insert": "add",
    "load_memory_variables": "context",
    "put": "add",
    "query": "recall",
    "remember": "add",
    "reset": "forget",
    "retrieve": "recall",
    "save": "add",
    "save_context": "add",
    "search": "recall",
    "similarity_search": "recall",
    "store": "add",
    "update": "correct",
}
"""What other memory libraries call their methods, with ours."""
ARGUMENTS_ELSEWHERE: Final = {
    "filter": "metadata",
    "filters": "metadata",
    "k": "limit",
    "max_results": "limit",
    "max_tokens": "budget",
    "memory_id": "belief",
    "n": "limit",
    "n_results": "limit",
    "num_results": "limit",
    "question": "query",
    "top_k": "limit",
    "where": "metadata",
}
"""What other memory libraries call their arguments, with ours."""
OWNER_ARGUMENTS: Final = frozenset({"user", "user_id", "owner", "namespace", "agent_id"})
SESSION_ARGUMENTS: Final = frozenset({"conversation_id", "run_id", "session_id", "thread_id"})


def check_calls(owner: type[T]) -> type[T]:
    """Have each public method of a class answer arguments that it does not take."""
    for name in dir(owner):
        method = inspect.getattr_static(owner, name)
        if name.startswith("_"):
            continue
        if isinstance(method, staticmethod):
            setattr(owner, name, staticmethod(check_arguments(method.__func__)))
        elif inspect.isfunction(method):
            setattr(owner, name, check_arguments(method))
    return owner


def check_arguments(method: Method) -> Method:
    """Return a method that raises InvalidInput for arguments that it does not take."""
    signature = inspect.signature(method)

    def check(given: tuple[object, ...], named: dict[str, object]) -> None:
        try:
            signature.bind(*given, **named)
        except TypeError as error:
            raise build_arguments_error(method, signature, named, error) from None

    @wraps(method)
    def checked(*given: object, **named: object) -> object:
        check(given, named)
        return method(*given, **named)

    @wraps(method)
    async def checked_awaited(*given: object, **named: object) -> object:
        check(given, named)
        return await method(*given, **named)

    return checked_awaited if inspect.iscoroutinefunction(method) else checked


def build_arguments_error(
    method: Method, signature: inspect.Signature, named: Collection[str], error: TypeError
) -> InvalidInput:
    """Build the error for arguments that a method does not take: what it takes, and a hint."""
    parameters = [
        each.replace(annotation=each.empty)
        for each in signature.parameters.values()
        if each.name != "self"
    ]
    plain = signature.replace(parameters=parameters, return_annotation=signature.empty)
    reason = str(error).removeprefix("got ").replace("'self', ", "")
    hints = [hint for name in named if (hint := find_argument_hint(name, signature))]
    takes = f"Call it as {method.__name__}{plain}."
    return InvalidInput(" ".join([f"{method.__name__}(): {reason}.", takes, *hints]))


def find_argument_hint(name: str, signature: inspect.Signature) -> str:
    """Return what to give instead of an argument that is not taken; empty if none is known."""
    if name in signature.parameters:
        return ""
    if name in OWNER_ARGUMENTS:
        return 'Whose memory it is is said once: Memory.open(url, person="Nora").'
    if name in SESSION_ARGUMENTS:
        return 'Give each message its conversation: {"session": ..., "text": ...}.'
    ours = ARGUMENTS_ELSEWHERE.get(name, "")
    if ours in signature.parameters:
        return f"{name} is called {ours} here."
    near = get_close_matches(name, signature.parameters, n=1)
    return f"Did you mean {near[0]}?" if near else ""


def build_unknown_method(owner: type, name: str) -> UnknownMethod:
    """Build the error for a method that no memory has, with the one that may be meant."""
    public = [each for each in dir(owner) if not each.startswith("_")]
    ours = METHODS_ELSEWHERE.get(name, "")
    near = [ours] if ours in public else get_close_matches(name, public, n=1)
    hint = f"Did you mean {near[0]}()? " if near else ""
    return UnknownMethod(
        f"{owner.__name__} has no {name!r}. {hint}It has: {', '.join(public)}.",
        name=name,
    )


def require_opened(given: tuple[object, ...]) -> None:
    """Raise MemoryMisused where a memory is made by anything but ``Memory.open``."""
    if not given or not isinstance(given[0], AppContext):
        raise MemoryMisused(OPEN_HINT)
