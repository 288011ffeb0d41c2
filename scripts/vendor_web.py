"""Fetch the libraries of the page anew, into src/oldfriend/api/static/vendor.

Browsers know no bare names of modules, and a page with our Content-Security-Policy can have no
import map: so each name is replaced by a path. Nothing else is changed but the pointer to a source
map, which is left out. ``vendor.json`` says what each file is, and by which digest it is known.
"""

import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

VENDOR = Path(__file__).parents[1] / "src" / "oldfriend" / "api" / "static" / "vendor"
FILES = {
    "preact.js": ("preact@11.2.0", "dist/preact.mjs"),
    "hooks.js": ("preact@11.2.0", "hooks/dist/hooks.mjs"),
    "htm.js": ("htm@3.1.1", "dist/htm.mjs"),
    "signals-core.js": ("@preact/signals-core@1.14.5", "dist/signals-core.mjs"),
    "signals.js": ("@preact/signals@2.11.4", "dist/signals.mjs"),
    "uplot.js": ("uplot@1.6.32", "dist/uPlot.esm.js"),
    "uplot.css": ("uplot@1.6.32", "dist/uPlot.min.css"),
    "marked.js": ("marked@18.2.1", "lib/marked.esm.js"),
    "d3-force.js": ("d3-force@3.0.1", "dist/d3-force.mjs"),
    "d3-quadtree.js": ("d3-quadtree@3.0.2", "dist/d3-quadtree.mjs"),
    "d3-dispatch.js": ("d3-dispatch@3.0.2", "dist/d3-dispatch.mjs"),
    "d3-timer.js": ("d3-timer@3.0.2", "dist/d3-timer.mjs"),
}
PATHS = {
    "preact": "./preact.js",
    "preact/hooks": "./hooks.js",
    "@preact/signals-core": "./signals-core.js",
    "d3-quadtree": "./d3-quadtree.js",
    "d3-dispatch": "./d3-dispatch.js",
    "d3-timer": "./d3-timer.js",
}


def main() -> None:
    """Write every file, its licence, and the list."""
    listed = {}
    for name, (package, path) in FILES.items():
        original, licence, about = unpacked(package, path)
        text = re.sub(
            r"from ?([\"'])([^\"'.]+)\1", lambda found: f'from"{PATHS[found[2]]}"', original
        )
        text = re.sub(r"//# sourceMappingURL=.*", "", text).rstrip() + "\n"
        (VENDOR / name).write_text(text, "utf-8")
        licence_name = f"LICENSE.{about['name'].replace('/', '-').lstrip('@')}"
        (VENDOR / licence_name).write_text(licence, "utf-8")
        listed[name] = {
            "package": about["name"],
            "version": about["version"],
            "license": about["license"],
            "license_file": licence_name,
            "file": path,
            "sha256": digest(text),
            "sha256_in_package": digest(original),
        }
    (VENDOR / "vendor.json").write_text(json.dumps(listed, indent=2) + "\n", "utf-8")


def unpacked(package: str, path: str) -> tuple[str, str, dict[str, str]]:
    """A file of a package, its licence, and what it says of itself."""
    with tempfile.TemporaryDirectory() as folder:
        packed = subprocess.run(
            ["npm", "pack", "--silent", package],
            cwd=folder,
            check=True,
            stdout=subprocess.PIPE,
            stderr=sys.stderr,
            text=True,
        ).stdout.split()[-1]
        with tarfile.open(Path(folder) / packed) as archive:
            archive.extractall(folder, filter="data")
        root = Path(folder) / "package"
        about = json.loads((root / "package.json").read_text("utf-8"))
        return (root / path).read_text("utf-8"), (root / "LICENSE").read_text("utf-8"), about


def digest(text: str) -> str:
    """By which a text is known."""
    return hashlib.sha256(text.encode()).hexdigest()


if __name__ == "__main__":
    main()
