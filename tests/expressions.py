"""Every regular expression of the product, and hostile texts made for each of them."""

import ast
import importlib
import inspect
import pkgutil
import random
import re
import re._parser as parser
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import oldfriend

SRC: Final = Path(oldfriend.__file__).parent
OWN_TEXTS: Final = "oldfriend_evals"
"""What measures us is shown texts of its own only."""
USES: Final = frozenset(
    {
        "compile",
        "match",
        "search",
        "sub",
        "split",
        "findall",
        "finditer",
        "fullmatch",
        "subn",
    }
)
CACHED: Final = type(cache(str))
COMPILED_LATE: Final = "domain/lazy_patterns.py:compiled"
"""Where those are compiled that belong to the place where they were made."""
AT_ONE_PLACE: Final = frozenset({"match", "fullmatch"})


@dataclass(frozen=True, slots=True)
class Expression:
    """One expression, and the functions that compile it."""

    pattern: re.Pattern[Any]
    places: frozenset[str]  # "turn/perceive.py:addresses"; "" in place of a function: the module
    is_matched: bool  # only asked whether it stands at one place, never searched for
    most: int | None  # characters that it is shown; None: any number

    def __str__(self) -> str:
        return f"{', '.join(sorted(self.places))}: {self.pattern.pattern!r:.150}"


@contextmanager
def expressions_are_noted(
    found: dict[re.Pattern[Any], set[str]],
    lazy: list[tuple[Any, str]],
    put: Callable[[re.Pattern[Any]], Any],
) -> Iterator[None]:
    """Note each expression that code of the product compiles meanwhile, cached or not, or will.

    ``put`` makes of an expression what the product is given in its place.
    """
    compile_original = re._compile  # type: ignore[attr-defined]

    def compile_and_note(pattern: Any, flags: int) -> re.Pattern[Any]:
        compiled: re.Pattern[Any] = compile_original(pattern, flags)
        place = place_of(sys._getframe(2))
        if not place:
            return compiled
        given: re.Pattern[Any] = put(compiled)
        if place != COMPILED_LATE:
            found.setdefault(given, set()).add(place)
        return given

    re._compile = compile_and_note  # type: ignore[attr-defined]
    lazy_pattern = importlib.import_module("oldfriend.domain.lazy_patterns").LazyPattern
    init_original = lazy_pattern.__init__

    def init_and_note(pattern: Any, *arguments: Any, **options: Any) -> None:
        init_original(pattern, *arguments, **options)
        lazy.append((pattern, place_of(sys._getframe(1))))

    lazy_pattern.__init__ = init_and_note
    try:
        yield
    finally:
        re._compile = compile_original  # type: ignore[attr-defined]
        lazy_pattern.__init__ = init_original


def place_of(frame: Any) -> str:
    """The module and the function that a frame belongs to; nothing outside the product."""
    file = Path(frame.f_code.co_filename)
    if not file.is_relative_to(SRC):
        return ""
    while frame.f_code.co_name.startswith("<") and frame.f_code.co_name != "<module>":
        frame = frame.f_back  # a comprehension or a lambda belongs to the function around it
    function = "" if frame.f_code.co_name == "<module>" else frame.f_code.co_name
    return f"{file.relative_to(SRC).as_posix()}:{function}"


def collect(
    examples: str, put: Callable[[re.Pattern[Any]], Any] = lambda each: each
) -> list[Expression]:
    """All expressions of all modules and books, and of the functions that build some.

    Nothing of the product but the package may have been imported before. ``examples`` names a
    module whose functions call those that build expressions from their arguments; fails for one
    that is not called there. ``put`` makes of an expression what the product is given.
    """
    found: dict[re.Pattern[Any], set[str]] = {}
    lazy: list[tuple[Any, str]] = []
    with expressions_are_noted(found, lazy, put):
        import_all()
        for opened in openers():
            opened()
        for example in vars(importlib.import_module(examples)).values():
            if inspect.isfunction(example) and example.__module__ == examples:
                example()
        for pattern, place in lazy:
            found.setdefault(pattern.compiled, set()).add(place)
    noted = {COMPILED_LATE, *(place for places in found.values() for place in places)}
    for place, use, expression in expressions_within_functions():
        values = [] if use in AT_ONE_PLACE else values_of(place, expression)
        is_found = values or use in AT_ONE_PLACE or place in noted
        assert is_found, f"give an example of {place}: {ast.unparse(expression)}"
        for source in values:
            found.setdefault(re.compile(source), set()).add(place)
    known = sys.modules[examples]
    matched, bounds = set(known.matched()), dict(known.bounded())
    return [
        Expression(
            pattern,
            frozenset(places),
            pattern in matched,
            bounds.get(pattern) or most_of(places, known.BOUNDS),
        )
        for pattern, places in found.items()
        if not all(place.startswith("evals/") for place in places)
    ]


ELSEWHERE = {"oldfriend.adapters.hermes"}
"""What can be imported only where Hermes is installed; it has no expression of its own."""


def import_all() -> None:
    """Import all modules, but those that start something and those that measure us."""
    for module in pkgutil.walk_packages(oldfriend.__path__, "oldfriend."):
        if module.name in ELSEWHERE or module.name.endswith("__main__"):
            continue
        if not module.name.startswith(OWN_TEXTS):
            importlib.import_module(module.name)


def most_of(places: set[str], bounds: Mapping[str, int]) -> int | None:
    """How many characters an expression is shown at most; None where one place knows no bound."""
    each = [bounds.get(place) for place in places]
    return None if None in each else max(filter(None, each))


def openers() -> Iterator[Callable[[], object]]:
    """What reads the books: each cached function of no argument, or of a language alone."""
    for name, module in sorted(sys.modules.items()):
        if not name.startswith("oldfriend.") or name.startswith(OWN_TEXTS):
            continue
        for value in vars(module).values():
            if isinstance(value, CACHED) and value.__module__ == name:
                arguments = list(inspect.signature(value).parameters)
                if arguments == ["language"]:
                    languages = sys.modules["oldfriend.lang.language_pack"].LANGUAGES
                    yield from (partial(open_language, value, each) for each in languages)
                elif not arguments:
                    yield value


def open_language(read: Callable[[str], object], language: str) -> None:
    """Read a book that all languages have which rules read, and some of the others.

    A glossary has no expressions, and English none of its own.
    """
    try:
        read(language)
    except KeyError:
        packs = sys.modules["oldfriend.lang.language_pack"]
        if language in packs.list_languages("rules") and read.__name__ != "load_glossary":
            raise


def expressions_within_functions() -> Iterator[tuple[str, str, ast.expr]]:
    """What functions have compiled, other than plain words: where, and for what."""
    for file in sorted(SRC.rglob("*.py")):
        inside = file.relative_to(SRC).as_posix()
        if inside.startswith("evals/"):
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for each in own_nodes(node):
                    if is_use_of_re(each) and not ast.unparse(each.args[0]).startswith("re.escape"):
                        yield f"{inside}:{node.name}", each.func.attr, each.args[0]


def own_nodes(function: ast.AST) -> Iterator[Any]:
    """What stands in a function, and in none within it."""
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield child
            yield from own_nodes(child)


def is_use_of_re(node: Any) -> bool:
    """Whether a node calls ``re.search`` or the like."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in USES
    )


def values_of(place: str, expression: ast.expr) -> list[str]:
    """What an expression is, where the names of its module alone tell."""
    module = sys.modules["oldfriend." + place.split(".py:")[0].replace("/", ".")]
    with suppress(NameError):
        return [eval(ast.unparse(expression), dict(vars(module)))]
    if isinstance(expression, ast.Subscript) and isinstance(expression.value, ast.Name):
        return list(getattr(module, expression.value.id, {}).values())
    return []


class Sampler:
    """Writes texts that an expression nearly finds, each with one of its repetitions drawn out."""

    def __init__(self, pattern: re.Pattern[Any], *, length: int, seed: int = 0) -> None:
        """Read the expression."""
        self._source = pattern.pattern
        if isinstance(self._source, bytes):
            self._source = self._source.decode("latin-1")
        self._tree = parser.parse(self._source, pattern.flags & (re.VERBOSE | re.DOTALL))
        self._length = length
        self._random = random.Random(seed)
        self._seen = 0
        self._drawn_out = -1
        self._body = ""

    def texts(self) -> Iterator[str]:
        """Up to its first repetitions drawn out, and those alone; and its beginning, repeated."""
        self._drawn_out, self._seen = -1, 0
        whole = self._write(self._tree)
        repetitions = min(self._seen, 12)
        for number in range(repetitions):
            self._drawn_out, self._seen, self._body = number, 0, ""
            text = self._write(self._tree)
            before = text.split("\ue000")[0]
            body = self._body or " "
            yield self._filled(before, body)
            yield self._filled("", body)
            yield self._filled("", before + body)
        if whole:
            yield self._filled("", whole)
            yield self._filled("", whole[: max(1, len(whole) // 2)])

    def _filled(self, before: str, body: str) -> str:
        before = before[: self._length // 2]
        return (before + body * (self._length // len(body) + 1))[: self._length - 1] + "\x01"

    def _write(self, tree: Any) -> str:
        return "".join(self._written(op, value) for op, value in tree)

    def _written(self, op: Any, value: Any) -> str:
        write = {
            "LITERAL": chr,
            "NOT_LITERAL": lambda refused: "a" if refused != ord("a") else "b",
            "ANY": lambda _: "a",
            "IN": self._one_of,
            "BRANCH": lambda branch: self._write(self._random.choice(branch[1])),
            "SUBPATTERN": lambda group: self._write(group[3]),
            "ATOMIC_GROUP": self._write,
            "ASSERT": lambda ahead: self._write(ahead[1]) if ahead[0] == 1 else "",
        }
        if "REPEAT" in str(op):
            return self._repeated(*value)
        return write.get(str(op), lambda _: "")(value)

    def _repeated(self, least: int, most: Any, tree: Any) -> str:
        if int(most) < 20:
            return "".join(self._write(tree) for _ in range(max(least, min(1, int(most)))))
        number, self._seen = self._seen, self._seen + 1
        if number == self._drawn_out:
            self._body = self._write(tree)
            return "\ue000"
        return self._write(tree) * least

    def _one_of(self, choices: Any) -> str:
        if str(choices[0][0]) == "NEGATE":
            refused = {chr(value) for op, value in choices[1:] if str(op) == "LITERAL"}
            return next(each for each in "a b1.\n," if each not in refused)
        op, value = self._random.choice(choices)
        if str(op) == "LITERAL":
            return chr(value)
        if str(op) == "RANGE":
            return chr(value[0])
        return {"CATEGORY_SPACE": " ", "CATEGORY_DIGIT": "1"}.get(str(value), "a")
