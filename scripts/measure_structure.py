"""Structure measures: how large the code is, how its modules hang together, and what grep finds.

python scripts/measure_structure.py [FOLDER]     FOLDER holds the package, src/oldfriend if left out
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

TERMS: Final = (
    "paginat",
    "dedup",
    "rate.limit",
    "dead.letter",
    "upload",
    "system prompt",
    "prompt injection",
    "sanitiz",
    "reconcil",
    "upsert",
)
"""What a maintainer types into grep first."""
REGISTRIES: Final = (
    "api.web_app",
    "channels.channel_registry",
    "llm.adapters.model_factory",
    "runtime.job_handlers",
    "transfer.formats.format_detection",
    "turn.request_handlers.registry",
    "turn.tools.tool_registry",
)
"""Modules that list the parts of one kind: routers, channels, adapters, formats, jobs, tools…"""

FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES: Final = (*FUNCTIONS, ast.ClassDef)

Graph = Mapping[str, frozenset[str]]


def main() -> None:
    """Print the measures of a package, a line each."""
    given = Path(sys.argv[1] if sys.argv[1:] else "src/oldfriend")
    for name, value in measure(given):
        print(f"{name:<48} {value}")


def measure(package: Path) -> Iterator[tuple[str, str]]:
    """Yield each measure with its value."""
    files = load_modules(package)
    trees = {name: ast.parse(text) for name, text in files.items()}
    graph = build_graph(trees, package.name)
    modules = len(files)
    lone = find_lone_importers(graph)
    registered = {
        name for name, importer in lone.items() if is_registered(name, importer, trees, package)
    }
    yield "modules", f"{modules:,}"
    yield "lines", f"{sum(len(text.splitlines()) for text in files.values()):,}"
    yield "own imports per module", f"{sum(map(len, graph.values())) / modules:.1f}"
    yield "modules with one importer", f"{len(lone) / modules:.0%}"
    yield (
        "modules with one importer, registered ones aside",
        f"{len(lone.keys() - registered) / modules:.0%}",
    )
    yield "longest import chain", str(find_longest_chain(graph))
    yield (
        "formatter switched off",
        str(sum(len(re.findall(r"#\s*fmt:", t)) for t in files.values())),
    )
    yield (
        "file names used more than once",
        str(count_repeated(name.split(".")[-1] for name in files)),
    )
    yield "class names used more than once", str(count_repeated(list_classes(trees)))
    yield "parameter names with more than three types", str(count_ambiguous_parameters(trees))
    questions = sum(
        "?" in (ast.get_docstring(tree) or "").split("\n")[0] for tree in trees.values()
    )
    yield "module docstrings that ask a question", str(questions)
    for term in TERMS:
        hits = sum(bool(re.search(term, text, re.I)) for text in files.values())
        yield f"files in which grep finds “{term}”", str(hits)


def load_modules(package: Path) -> dict[str, str]:
    """Return the text of each module of a package by its dotted name, without empty packages."""
    return {
        ".".join(path.relative_to(package.parent).with_suffix("").parts): path.read_text("utf-8")
        for path in sorted(package.rglob("*.py"))
        if path.name != "__init__.py"
    }


def build_graph(trees: Mapping[str, ast.Module], root: str) -> Graph:
    """Return which modules of the package each module imports."""
    return {
        name: frozenset(list_imports(tree, root) & trees.keys() - {name})
        for name, tree in trees.items()
    }


def list_imports(tree: ast.Module, root: str) -> set[str]:
    """Return every dotted name that a module may import from the package."""
    found = set[str]()
    for node in walk_runtime(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == root:
            found |= {node.module or "", *(f"{node.module}.{each.name}" for each in node.names)}
        elif isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
    return found


def walk_runtime(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all below it, but for what only type checkers import."""
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from walk_runtime(child)


def find_lone_importers(graph: Graph) -> dict[str, str]:
    """Return the importer of each module that has only one."""
    importers: dict[str, list[str]] = {}
    for name, targets in graph.items():
        for target in targets:
            importers.setdefault(target, []).append(name)
    return {name: found[0] for name, found in importers.items() if len(found) == 1}


def is_registered(name: str, importer: str, trees: Mapping[str, ast.Module], package: Path) -> bool:
    """Tell whether a module stands alone by design, whoever imports it.

    A registry lists it, a command or a process starts with it, or only a function imports it,
    so that a library that may be missing or is slow to load is needed by those who use it.
    """
    root = package.name
    names = {node.name for node in trees[name].body if isinstance(node, FUNCTIONS)}
    starts_alone = "main" in names or (name.startswith(f"{root}.cli.") and "run" in names)
    if importer.removeprefix(f"{root}.") in REGISTRIES or starts_alone:
        return True
    top = ast.Module(
        body=[node for node in trees[importer].body if not isinstance(node, SCOPES)],
        type_ignores=[],
    )
    return name not in list_imports(top, root)


def find_longest_chain(graph: Graph) -> int:
    """Return the number of modules in the longest chain of imports; the graph has no cycle."""

    @cache
    def length(name: str) -> int:
        return 1 + max((length(target) for target in graph[name]), default=0)

    return max(map(length, graph))


def count_ambiguous_parameters(trees: Mapping[str, ast.Module]) -> int:
    """Return how many names of parameters have more than three types, ``None`` aside."""
    types: dict[str, set[str]] = {}
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.arg) and node.annotation is not None:
                text = ast.unparse(node.annotation).strip("'\"").replace(" | None", "")
                types.setdefault(node.arg, set()).add(text)
    return sum(len(each) > 3 for each in types.values())


def list_classes(trees: Mapping[str, ast.Module]) -> Iterator[str]:
    """Yield the name of each class at the top of a module."""
    for tree in trees.values():
        yield from (node.name for node in tree.body if isinstance(node, ast.ClassDef))


def count_repeated(names: Iterator[str]) -> int:
    """Return how many names occur more than once."""
    return sum(count > 1 for count in Counter(names).values())


if __name__ == "__main__":
    main()
