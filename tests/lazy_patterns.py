"""The expressions of a book that are compiled when they are needed."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

from oldfriend.domain.lazy_patterns import LazyPattern


def lazy_patterns_in(value: object) -> Iterator[LazyPattern]:
    """All expressions of a book that are compiled when they are needed."""
    if isinstance(value, LazyPattern):
        yield value
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from lazy_patterns_in(getattr(value, field.name))
    elif isinstance(value, Mapping):
        yield from lazy_patterns_in(tuple(value.values()))
    elif isinstance(value, tuple | list | frozenset | set):
        for each in value:
            yield from lazy_patterns_in(each)
