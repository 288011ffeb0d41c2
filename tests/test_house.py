"""House rules that a linter cannot say, and docs that must be true."""

import ast
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import oldfriend
from oldfriend.cli.main import build_parser
from oldfriend.config.settings import load_settings

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src" / "oldfriend"
FILES = sorted(SRC.rglob("*.py"))
DOCS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

NETWORK_TYPES = re.compile(r"\b(Model|Embedder|Channel|AsyncClient)\b")
SQL_HOMES = {
    "db",
    "diary",
    "projects",
    "goals",
    "measurements",
    "memory",
    "proactive",
    "queues",
    "tasks",
    "usage",
    "watches",
}
SQL = re.compile(r"^\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|WITH)\s", re.MULTILINE)
PROMPTING = re.compile(r"\b(You are an?|Your task is)\b")
SUPPRESSION = re.compile(r"#\s*(noqa|type:\s*ignore|fmt:\s*\w)")
MAX_SUPPRESSIONS = 10
HEAVY = {"numpy", "onnxruntime", "prompt_toolkit"}
REGISTRIES = [  # in pieces, so that this file passes its own rule
    ".".join(name)
    for name in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("crates", "io"),
        ("rubygems", "org"),
        ("anaconda", "org"),
        ("proxy", "golang", "org"),
    )
]


@cache
def trees() -> dict[Path, ast.Module]:
    """Each of our modules, parsed."""
    return {path: ast.parse(path.read_text("utf-8")) for path in FILES}


def functions() -> Iterator[tuple[Path, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Each function of ours, and where it is."""
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield path, node


def inside(path: Path) -> str:
    """A file's place in the house."""
    return path.relative_to(SRC).as_posix()


def strings(tree: ast.Module) -> list[str]:
    """All texts in a module."""
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The names of a function's arguments."""
    return {argument.arg for argument in function.args.args + function.args.kwonlyargs}


def blocks(path: Path, language: str) -> Iterator[str]:
    """The code blocks of a page that are in one language."""
    yield from re.findall(rf"^```{language}\n(.*?)^```", path.read_text("utf-8"), re.M | re.S)


def test_source_files_have_at_most_520_lines() -> None:
    """520 lines as the formatter lays them out."""
    long = [inside(path) for path in FILES if len(path.read_text("utf-8").splitlines()) > 520]

    assert long == []


def test_functions_have_at_most_90_lines() -> None:
    """90 lines as the formatter lays them out; ruff counts their statements."""
    long = [f"{inside(p)}:{f.name}" for p, f in functions() if (f.end_lineno or 0) - f.lineno >= 90]

    assert long == []


def test_functions_with_a_transaction_take_no_network_objects() -> None:
    """A lock is never held while somebody far away thinks."""
    both = [
        f"{inside(p)}:{f.name}"
        for p, f in functions()
        if "tx" in arguments(f) and NETWORK_TYPES.search(ast.unparse(f.args))
    ]

    assert both == []


def test_search_functions_take_no_channel_argument() -> None:
    """Memory crosses channels; what cannot be passed cannot be filtered by (ACCEPTANCE C15)."""
    finding = ("search/", "memory/index_cache.py", "turn/retrieval.py", "turn/memory_context.py")
    filters = [
        f"{inside(p)}:{f.name}"
        for p, f in functions()
        if inside(p).startswith(finding) and "channel" in arguments(f)
    ]

    assert filters == []


def test_sql_appears_only_in_storage_packages() -> None:
    """In db, memory, queues, usage and the stores of what it does."""
    strays = [
        inside(path)
        for path, tree in trees().items()
        if inside(path).split("/")[0] not in SQL_HOMES
        and any(SQL.match(text) for text in strings(tree))
    ]

    assert strays == []


def test_prompt_text_appears_only_in_the_prompts_package() -> None:
    """Code renders them, never holds them."""
    strays = [
        inside(path)
        for path, tree in trees().items()
        if any(PROMPTING.search(text) for text in strings(tree))
    ]

    assert strays == []


def test_lint_suppressions_stay_under_the_limit() -> None:
    """Each is justified in place; ten are too many."""
    found = sum(len(SUPPRESSION.findall(path.read_text("utf-8"))) for path in FILES)

    assert found <= MAX_SUPPRESSIONS


def test_public_exports_match_the_promised_names() -> None:
    """A name more or less is a decision, not an accident."""
    promised = [
        "Answer",
        "Belief",
        "BeliefHit",
        "Decision",
        "EvidenceQuote",
        "ForgetResult",
        "Goal",
        "Hit",
        "Memory",
        "MemorySync",
        "OldfriendError",
        "StoredMessage",
        "Task",
        "Watch",
        "__version__",
    ]

    assert sorted(oldfriend.__all__) == promised
    assert oldfriend.Words is oldfriend.StoredMessage  # a former name still works
    assert all(getattr(oldfriend, name) is not None for name in promised)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = oldfriend.nonsense


@pytest.mark.parametrize(
    "script",
    [
        "import oldfriend",
        "from oldfriend.cli.main import build_parser; build_parser().format_help()",
    ],
)
def test_import_and_help_load_no_heavy_modules(script: str) -> None:
    """Neither ``import oldfriend`` nor ``oldfriend --help`` loads what is heavy."""
    ended = subprocess.run(
        [sys.executable, "-c", f"{script}; import sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert not HEAVY & set(ended.stdout.split())


def test_no_tracked_file_names_a_registry() -> None:
    """Where packages come from is the business of whoever installs."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout, so nothing is tracked")
    named = [
        name
        for name in listed.stdout.split("\0")
        if name and (ROOT / name).is_file()
        if any(host.encode() in (ROOT / name).read_bytes() for host in REGISTRIES)
    ]

    assert named == []


COMMANDS = [
    (page, line)
    for page in DOCS
    for block in blocks(page, "(?:sh|bash|console)?")
    for line in re.findall(r"^(?:\$ )?(?:\S*/)?oldfriend (.*)$", block, re.M)
]


def test_docs_show_commands() -> None:
    """Else the next test would show nothing."""
    assert len(COMMANDS) >= 5


@pytest.mark.parametrize(("page", "line"), COMMANDS, ids=str)
def test_every_command_in_the_docs_exists(page: Path, line: str) -> None:
    """With just these options."""
    assert build_parser().parse_args(shlex.split(line, comments=True)).handler


SETTINGS_FILES = [(page, block) for page in DOCS for block in blocks(page, "toml")]


@pytest.mark.parametrize(
    ("page", "text"), SETTINGS_FILES, ids=lambda value: getattr(value, "name", "")
)
def test_every_settings_file_in_the_docs_loads(page: Path, text: str, tmp_path: Path) -> None:
    """As somebody would copy it from there."""
    (tmp_path / "oldfriend.toml").write_text(text, "utf-8")

    assert load_settings({}, data=str(tmp_path)).data == tmp_path, page


def test_docs_show_settings_files() -> None:
    """Else the test above would show nothing."""
    assert len(SETTINGS_FILES) >= 5


PROGRAMS = [(page, block) for page in DOCS for block in blocks(page, "python")]


@pytest.mark.parametrize(
    ("page", "program"), PROGRAMS, ids=lambda value: getattr(value, "name", "")
)
def test_every_program_in_the_docs_runs(
    page: Path, program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As somebody would paste it. One that awaits is only read: it stands in no function."""
    monkeypatch.chdir(tmp_path)
    code = compile(program, str(page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    if "await " not in program:
        exec(code, {})

        assert (tmp_path / "memory.db").exists()


def test_every_setting_is_documented() -> None:
    """A variable that nobody can know of is a trap."""
    read = set(re.findall(r"OLDFRIEND_\w+", (SRC / "config" / "settings.py").read_text("utf-8")))
    told = set(re.findall(r"OLDFRIEND_\w+", "".join(page.read_text("utf-8") for page in DOCS)))

    assert {name for name in read if not name.endswith("_")} <= told


def test_every_relative_link_in_the_docs_resolves() -> None:
    """To a file of ours; what is elsewhere is not our promise."""
    broken = [
        (page.name, link)
        for page in DOCS
        for link in re.findall(r"\]\(([^)#\s]+)", page.read_text("utf-8"))
        if "://" not in link and not (page.parent / link).exists()
    ]

    assert broken == []


def test_architecture_page_is_up_to_date() -> None:
    """`make architecture` writes it anew."""
    script = ROOT / "scripts" / "build_architecture.py"
    ended = subprocess.run([sys.executable, str(script), "--check"], check=False)

    assert ended.returncode == 0, "docs/architecture.md is out of date: make architecture"
