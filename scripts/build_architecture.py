"""Architecture page: docs/architecture.md, made from .importlinter and the module docstrings.

Run by `make architecture`; a test compares the page with what the code says now.
"""

import ast
import sys
from collections.abc import Iterator
from configparser import ConfigParser
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
SOURCE: Final = ROOT / "src" / "oldfriend"
PAGE: Final = ROOT / "docs" / "architecture.md"
INTRODUCTION: Final = """\
# Architecture

This page is generated from the module docstrings by `make architecture`. Where to find a certain
behavior says [Where is …?](where.md)

## The life of a message

```
channel → inbound (identify → authorize → resolve chat → accept) → inbox → debounce
        → turn (intent → retrieval → generate → finalize) → one commit → outbox → channel
```

1. `inbound.receive` finds out who writes and whether they may; `inbound.accept` stores the message
   and its job in one transaction. Only then is the platform told that it was received.
2. `runtime.worker` claims the job under a lease; `replies.reply_worker` runs `turn.pipeline`, which
   reads and calls models but writes nothing; `replies.turn_commit` writes all of it in one
   transaction, and `replies.outbox_worker` sends what was committed.
3. `learning.learning_scheduler` closes segments of the log; `learning.consolidate` reads each once:
   extract, validate (`learning.validation`), resolve against what is known
   (`learning.resolution`), record the decisions in the journal (`memory.journal`).
4. `search` and `turn.retrieval` find messages and beliefs; `presenters` and `api` show them.

## Floors

A package imports only packages on floors below its own; `.importlinter` is checked by `make check`.

"""


def main() -> int:
    """Write the page, or with --check only compare it; 1 where it is out of date."""
    page = build_page()
    if "--check" in sys.argv[1:]:
        return int(PAGE.read_text("utf-8") != page)
    PAGE.write_text(page, "utf-8")
    return 0


def build_page() -> str:
    """Return the whole page."""
    floors = "\n".join(f"    {floor}" for floor in load_floors())
    packages = [part for floor in load_floors() for part in floor.split(" | ")]
    sections = "\n".join(
        section for name in packages for section in build_section(SOURCE / name, f"{name}/")
    )
    return f"{INTRODUCTION}{floors}\n\n{sections}"


def load_floors() -> list[str]:
    """Return the layers of the import contract, top first."""
    contracts = ConfigParser()
    contracts.read(ROOT / ".importlinter", "utf-8")
    return contracts["importlinter:contract:floors"]["layers"].split("\n")[1:]


def build_section(folder: Path, title: str) -> Iterator[str]:
    """Yield a heading and a list of modules for a package, then those of its subpackages."""
    yield f"## {title}\n\n{load_summary(folder / '__init__.py')}\n"
    modules = [path for path in sorted(folder.glob("*.py")) if path.name != "__init__.py"]
    yield "".join(f"- `{path.name}`: {load_summary(path)}\n" for path in modules)
    for inner in sorted(path.parent for path in folder.glob("*/__init__.py")):
        yield from build_section(inner, f"{title}{inner.name}/")


def load_summary(path: Path) -> str:
    """Return the first line of a module's docstring."""
    docstring = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return docstring.partition("\n")[0]


if __name__ == "__main__":
    sys.exit(main())
