"""Programs from npm that tests use, each installed once from a lock file beside it."""

import fcntl
import json
import shutil
import subprocess
from pathlib import Path

INSTALL_S = 180


def why_not_here() -> str | None:
    """Why they cannot be used on this machine, if they cannot."""
    missing = [program for program in ("node", "npm") if shutil.which(program) is None]
    return f"{' and '.join(missing)} not installed" if missing else None


def installed(package: str, *, of: Path) -> Path:
    """The folder of a package that a folder's lock file names, installed unless it is there.

    Only one process installs at a time: npm takes away first what is there.
    """
    wanted = json.loads((of / "package.json").read_text())["dependencies"][package]
    there = of / "node_modules" / package
    with (of / "package.json").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_of_version(there, wanted):
            command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
            subprocess.run(command, cwd=of, check=True, capture_output=True, timeout=INSTALL_S)
    return there


def is_of_version(package: Path, wanted: str) -> bool:
    """Whether a package is there as it is wanted."""
    told = package / "package.json"
    return told.exists() and json.loads(told.read_text())["version"] == wanted
