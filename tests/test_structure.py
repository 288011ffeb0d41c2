"""How the modules hang together stays as it was measured (decision 40)."""

import ast
import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "oldfriend"
LONGEST_CHAIN = 40
MOST_LONE = 0.13


def test_chains_of_imports_and_lone_modules_do_not_grow() -> None:
    """A type that many use belongs below those that make it; what one uses, into that one."""
    spec = importlib.util.spec_from_file_location("measure", ROOT / "scripts/measure_structure.py")
    assert spec is not None
    assert spec.loader is not None
    measure = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(measure)
    files = measure.load_modules(PACKAGE)
    trees = {name: ast.parse(text) for name, text in files.items()}
    graph = measure.build_graph(trees, PACKAGE.name)
    lone = {
        name
        for name, importer in measure.find_lone_importers(graph).items()
        if not measure.is_registered(name, importer, trees, PACKAGE)
    }

    assert measure.find_longest_chain(graph) <= LONGEST_CHAIN
    assert len(lone) / len(files) <= MOST_LONE, sorted(lone)
