"""Page assets: the files of the page, compressed, at addresses that change with their content.

Browsers keep them for good, and ask for nothing again when the page is opened anew. All style
sheets are one file, and so are all scripts that the chat begins with.
"""

import gzip
import hashlib
import json
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from mimetypes import guess_type
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from typing_extensions import override

STATIC_DIR: Final = Path(__file__).parent / "static"
VERSIONED: Final = "/static/v"
STYLES: Final = "page.css"
"""All style sheets in one, which is no file."""
SERVICE_WORKER: Final = "service_worker.js"
LANGUAGES: Final = "js/i18n/"
"""What the page says in other languages than English; a browser keeps only what it has used."""
COMPRESSED: Final = frozenset({"text/css", "text/javascript", "image/svg+xml", "text/html"})
_KEPT: Final = {"cache-control": "public, max-age=31536000, immutable", "vary": "accept-encoding"}
_UNKEPT: Final = {"cache-control": "no-cache"}
_TYPES: Final = {".webmanifest": "application/manifest+json"}
_STYLE: Final = re.compile(r"""<link rel="stylesheet" href="/static/([\w./-]{1,200})">\n""")


async def serve_page(request: Request) -> Response:
    """Serve the HTML page; it is the same for everybody."""
    return respond_with_page(request.url.path)


async def serve_consent_page(request: Request) -> Response:
    """Serve the page to which a program sends a person, often in a window that it has opened.

    That window is cut off from its opener by the policy of all other pages, and could not say that
    it is done.
    """
    page = await serve_page(request)
    page.headers["cross-origin-opener-policy"] = "unsafe-none"
    return page


def respond_with_page(path: str, *, status: int = 200) -> Response:
    """Return the HTML page, for an address of it or for one at which there is nothing."""
    place = f"js/pages/{path.split('/')[1]}.js"
    page = build_page(place if place in load_bundles() else None)
    return HTMLResponse(page, status_code=status, headers=_UNKEPT)


async def serve_service_worker() -> Response:
    """Serve the service worker, which is of one version of the page."""
    own = [path for path in load_bundles() if path.startswith("js/")]
    later = [path for path in own if path.startswith(LANGUAGES)]
    files = [STYLES, "icon.svg", *(path for path in own if path not in later)]
    root = f"{VERSIONED}/{compute_version()}"
    kept = {"files": [f"{root}/{each}" for each in files]}
    kept["later"] = [f"{root}/{each}" for each in later]
    shell = json.dumps({"version": compute_version(), **kept})
    script = list_files()[SERVICE_WORKER].read_text("utf-8")
    text = f"const SHELL = {shell};\n{script}"
    return Response(text, headers=_UNKEPT, media_type="text/javascript")


async def serve_asset(version: str, path: str, request: Request) -> Response:
    """Serve a file of the page; for good, if it is of the version that is asked for."""
    if path != STYLES and path not in list_files():
        return Response(status_code=404)
    body, packed, media_type = load_asset(path)
    headers = dict(_KEPT if version == compute_version() else _UNKEPT)
    if packed and "gzip" in request.headers.get("accept-encoding", ""):
        headers["content-encoding"] = "gzip"
        body = packed
    return Response(body, headers=headers, media_type=media_type)


@cache
def list_files() -> dict[str, Path]:
    """List the files of the page by their paths."""
    files = sorted(each for each in STATIC_DIR.rglob("*") if each.is_file())
    return {each.relative_to(STATIC_DIR).as_posix(): each for each in files}


@cache
def compute_version() -> str:
    """Compute the version of the page: a digest of all its files and bundles."""
    digest = hashlib.sha256()
    contents = {path: file.read_bytes() for path, file in list_files().items()}
    contents |= {path: bundle.encode() for path, bundle in load_bundles().items()}
    for path, content in contents.items():
        digest.update(path.encode() + b"\0" + content + b"\0")
    return digest.hexdigest()[:16]


@cache
def load_asset(path: str) -> tuple[bytes, bytes, str]:
    """Load a file: its content, compressed too where that is worth it, and its media type.

    It is kept, so only files of the page may be asked for. Raises KeyError.
    """
    bundle = load_bundles().get(path)
    files = list_styles() if path == STYLES else [path]
    body = bundle.encode() if bundle else join_files(files)
    media_type = _TYPES.get(Path(path).suffix) or guess_type(path)[0] or "application/octet-stream"
    packed = gzip.compress(body, 9, mtime=0) if media_type in COMPRESSED else b""
    return body, packed, media_type


def list_styles() -> list[str]:
    """List the style sheets of the page, in their order."""
    return _STYLE.findall((STATIC_DIR / "index.html").read_text("utf-8"))


def join_files(paths: list[str]) -> bytes:
    """Join files of the page."""
    return b"\n".join(list_files()[each].read_bytes() for each in paths)


@cache
def load_bundles() -> dict[str, str]:
    """Load the scripts of the page, put together into bundles."""
    files = list_files().items()
    scripts = {path: file.read_text("utf-8") for path, file in files if path.endswith(".js")}
    return build_bundles(scripts)


@cache
def build_page(place: str | None = None) -> str:
    """Build the HTML page, with the version of its files and the bundle of a place, if any."""
    root = f"{VERSIONED}/{compute_version()}"
    text = (STATIC_DIR / "index.html").read_text("utf-8")
    links = [f'<link rel="stylesheet" href="/static/{STYLES}">']
    if place is not None:
        links.append(f'<link rel="modulepreload" href="/static/{place}">')
    first, _, rest = _STYLE.sub("\0", text).partition("\0")
    page = first.rstrip(" ") + "".join(f"    {each}\n" for each in links)
    page += rest.replace("    \0", "")
    return page.replace('"/static/', f'"{root}/')


ENTRY: Final = "js/main.js"
LOADER: Final = "js/loader.js"
"""What finds the modules of all bundles; it stands before those of the first."""
VENDORED: Final = "vendor/"
"""Scripts that others wrote name what they export in lists; what looks otherwise is a comment."""
USE: Final = "$use"
LOAD: Final = "$load"
DEFAULT: Final = "$default"
RESERVED: Final = re.compile(r"\$(?:use|load|default)\b")

_NAME = r"[\w$]{1,80}"
_LIST = r"\{[^{}]{0,4000}\}"
_FROM = r'"(?P<path>\.{1,2}/[\w./-]{1,200}\.js)";?'
_START = r"(?:^|(?<=[;}]))"
IMPORT: Final = re.compile(
    rf"{_START}import ?(?:(?:(?P<name>{_NAME})|\* as (?P<all>{_NAME})|(?P<list>{_LIST}))"
    rf" ?from ?)?{_FROM}",
    re.MULTILINE,
)
EXPORT_LIST: Final = re.compile(
    rf"{_START}export ?(?P<list>{_LIST})(?: ?from ?{_FROM})?;?", re.MULTILINE
)
EXPORT_NAMED: Final = re.compile(
    rf"^export (?P<kept>(?:async function\*?|function\*?|const|class) (?P<name>{_NAME})\b)",
    re.MULTILINE,
)
EXPORT_DEFAULT: Final = re.compile(
    rf"{_START}export default (?P<kept>function (?P<name>{_NAME}))?", re.MULTILINE
)
IMPORT_LATER: Final = re.compile(r'(?P<before>await |=> )import\("(?P<path>[\w./-]{1,200})"\)')
OTHER_FORM: Final = re.compile(
    r'^(?:import|export)\b.{0,80}|import\((?!"[^"\n]{1,200}"\)\.\w)', re.M
)


class NotBundled(ValueError):
    """A script has a form of import or export that cannot be put into a bundle."""


@dataclass(slots=True)
class Module:
    """A script as a function of a bundle."""

    path: str
    body: str
    imported: list[str] = field(default_factory=list)
    later: list[str] = field(default_factory=list)
    exported: dict[str, str] = field(default_factory=dict)
    """What stands in the body for each exported name."""

    def read(self) -> None:
        """Read what it imports and exports. Raises NotBundled for a form that is not known here."""
        if RESERVED.search(self.body):
            raise NotBundled(f"{self.path}: {USE}, {LOAD} and {DEFAULT} are names of bundles")
        forms: list[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]] = [
            (IMPORT, self.write_import),
            (EXPORT_LIST, self.write_list),
            (EXPORT_DEFAULT, self.write_default),
            (EXPORT_NAMED, self.write_named),
            (IMPORT_LATER, self.write_later),
        ]
        is_own = not self.path.startswith(VENDORED)
        for form, write in forms:
            if is_own or form is not EXPORT_NAMED:
                self.body = form.sub(write, self.body)
        if is_own and (other := OTHER_FORM.search(self.body)):
            raise NotBundled(f"{self.path}: {other[0]}")

    def write_import(self, found: re.Match[str]) -> str:
        """Write an import at the top as names for what another module exports."""
        asked = self.ask_for(found["path"])
        if found["all"]:
            return f"const {found['all']} = {asked};"
        if found["name"]:
            return f"const {{ default: {found['name']} }} = {asked};"
        pairs = [f"{there}: {here}" for there, here in read_list(found["list"] or "{}")]
        return f"const {{ {', '.join(pairs)} }} = {asked};" if pairs else f"{asked};"

    def write_list(self, found: re.Match[str]) -> str:
        """Note what a list exports, of this module or of another."""
        source = f"{self.ask_for(found['path'])}." if found["path"] else ""
        self.exported |= {there: f"{source}{here}" for here, there in read_list(found["list"])}
        return ""

    def write_default(self, found: re.Match[str]) -> str:
        """Note what is exported by default."""
        self.exported["default"] = found["name"] or DEFAULT
        return found["kept"] or f"const {DEFAULT} = "

    def write_named(self, found: re.Match[str]) -> str:
        """Note a name that is exported where it is declared."""
        self.exported[found["name"]] = found["name"]
        return found["kept"]

    def write_later(self, found: re.Match[str]) -> str:
        """Write an import that happens later."""
        self.later.append(self.find(found["path"]))
        return f"{found['before']}{LOAD}({json.dumps(self.later[-1])})"

    def ask_for(self, name: str) -> str:
        """Note a module that is imported, and write how it is asked for."""
        self.imported.append(self.find(name))
        return f"{USE}({json.dumps(self.imported[-1])})"

    def find(self, name: str) -> str:
        """Find the path of a module by its name from here."""
        return posixpath.normpath(posixpath.join(posixpath.dirname(self.path), name))

    @override
    def __str__(self) -> str:
        """Write it as a part of a bundle."""
        pairs = ", ".join(f"{name}: {inside}" for name, inside in self.exported.items())
        head = f"{json.dumps(self.path)}: ({USE}, {LOAD}) => {{"
        return f"{head}\n{self.body.strip()}\nreturn {{ {pairs} }};\n}},\n"


def build_bundles(scripts: Mapping[str, str]) -> dict[str, str]:
    """Put scripts, by their paths, together into bundles, by the paths of their entries.

    Raises NotBundled where that cannot be done soundly.
    """
    modules: dict[str, Module] = {}
    first = list(iterate_imported(ENTRY, scripts, modules))
    bundles = {ENTRY: [*first]}
    entries = [later for path in first for later in modules[path].later]
    for entry in entries:
        if entry in bundles:
            continue
        bundles[entry] = [
            path for path in iterate_imported(entry, scripts, modules) if path not in first
        ]
        entries += [later for path in bundles[entry] for later in modules[path].later]
    texts = {
        entry: "export default {\n" + "".join(str(modules[path]) for path in paths) + "};\n"
        for entry, paths in bundles.items()
    }
    parts = texts[ENTRY].removeprefix("export default ").removesuffix(";\n")
    texts[ENTRY] = f"{scripts[LOADER]}add({parts});\nuse({json.dumps(ENTRY)});\n"
    return texts


def iterate_imported(
    entry: str,
    scripts: Mapping[str, str],
    modules: dict[str, Module],
    done: set[str] | None = None,
    within: tuple[str, ...] = (),
) -> Iterator[str]:
    """Yield what a script imports before anything happens, in the order in which it is run."""
    done = set() if done is None else done
    if entry in within:
        raise NotBundled(f"imports itself: {' > '.join((*within, entry))}")
    if entry in done:
        return
    done.add(entry)
    if entry not in modules:
        modules[entry] = Module(path=entry, body=scripts[entry])
        modules[entry].read()
    for path in modules[entry].imported:
        yield from iterate_imported(path, scripts, modules, done, (*within, entry))
    yield entry


def read_list(text: str) -> list[tuple[str, str]]:
    """Read ``{a, b as c}``: each name, and what it is called behind ``as``."""
    names = [each.split() for each in text.strip("{} \n").split(",") if each.strip()]
    return [(each[0], each[-1]) for each in names]
