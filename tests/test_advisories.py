"""No locked package has a known vulnerability, as far as the advisories that lie here know."""

import json
import re
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

HOUSE = Path(__file__).parents[1]
ADVISORIES = json.loads((HOUSE / "tests" / "data" / "advisories.json").read_text())["packages"]
LOCKED = re.compile(r"^(?P<name>[\w.-]+)(?:\[[^\]\n]*\])?==(?P<version>[^\s;\\]+)", re.MULTILINE)


def list_vulnerable(locked: str) -> list[str]:
    """The advisories that speak of a version in a file of locked requirements."""
    return [
        f"{found['name']} {found['version']}: {advisory['id']}"
        for found in LOCKED.finditer(locked)
        for advisory in ADVISORIES.get(canonicalize_name(found["name"]), [])
        if any(
            Version(found["version"]) in SpecifierSet(each)
            for each in advisory["affected"].split("||")
        )
    ]


@pytest.mark.parametrize("file", ["run.txt", "dev.txt"])
def test_locked_packages_have_no_known_vulnerability(file: str) -> None:
    """For what was published after the list, ask a current one before a release."""
    assert list_vulnerable((HOUSE / "requirements" / file).read_text()) == []


def test_vulnerable_version_is_named() -> None:
    """Else the check could not fail."""
    assert list_vulnerable("h11==0.14.0 \\\n    --hash=sha256:0\nh11==0.16.0") == [
        "h11 0.14.0: GHSA-vqfr-h8mv-ghfj"
    ]
