"""What `deploy/` holds is what systemd and compose take, and names what is there."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from oldfriend.cli.main import build_parser
from oldfriend.config.settings import load_settings

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
SCHEMA = Path(__file__).parent / "data/compose/compose_spec.json"
COMMAND = "/opt/oldfriend/bin/oldfriend"


def composed() -> Any:
    """The compose file, read."""
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
def test_systemd_unit_verifies_without_warnings(tmp_path: Path) -> None:
    """With a program in the place where the guide puts one."""
    unit = tmp_path / "oldfriend.service"
    text = (DEPLOY / "oldfriend.service").read_text("utf-8")
    unit.write_text(text.replace(COMMAND, sys.executable))
    verified = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    remarks = [line for line in verified.stderr.splitlines() if unit.name in line]

    assert (verified.returncode, remarks) == (0, [])


def test_systemd_stop_timeout_exceeds_the_turn_timeout() -> None:
    """Whoever is killed while a turn ends loses nothing, but the reply comes late."""
    unit = (DEPLOY / "oldfriend.service").read_text("utf-8")
    found = re.search(r"TimeoutStopSec=(\d+)", unit)

    assert found is not None
    assert int(found[1]) > load_settings({}, data="x").limits.turn_timeout_s
    assert "Environment=OLDFRIEND_DATA=" in unit


def test_compose_file_validates_against_its_schema() -> None:
    """And a file that breaks it is found out, so that this says something."""
    validator = jsonschema_rs.validator_for(json.loads(SCHEMA.read_text("utf-8")))
    broken = composed()
    broken["services"]["oldfriend"]["restarts"] = "always"

    assert [str(error) for error in validator.iter_errors(composed())] == []
    assert not validator.is_valid(broken)


def test_compose_services_use_existing_commands_volumes_and_settings() -> None:
    """Commands of ours, volumes that are declared, a database that we can reach."""
    services = composed()["services"]
    for name in ("oldfriend", "work"):
        assert (
            build_parser().parse_args(services[name]["command"]).handler
            == {
                "oldfriend": "serve",
                "work": "work",
            }[name]
        )
        assert (ROOT / services[name]["build"]["dockerfile"]).is_file()
    volumes = {each.partition(":")[0] for s in services.values() for each in s.get("volumes", ())}
    address = services["oldfriend"]["environment"]["OLDFRIEND_DATABASE"]

    assert volumes == set(composed()["volumes"])
    assert load_settings({"OLDFRIEND_DATABASE": address}, data="x").database == address
    assert services["work"]["environment"] == services["oldfriend"]["environment"]


def test_docker_image_copies_only_existing_allowed_paths() -> None:
    """Nothing else of a checkout gets into it: no data, no keys."""
    text = (DEPLOY / "Dockerfile").read_text("utf-8")
    copied = [
        name
        for line in re.findall(r"^COPY (.+)$", text, re.MULTILINE)
        for name in line.split()[:-1]
    ]
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8").splitlines()

    assert all((ROOT / name).exists() for name in copied)
    assert {line[1:] for line in ignored if line.startswith("!")} == set(copied)
    assert "*" in ignored
