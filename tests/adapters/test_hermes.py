"""Hermes Agent has this memory: its own plugin loader and memory manager, in their own process."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from oldfriend import Memory

HERMES = Path(sys.prefix) / "hermes"
PLUGIN = """
from oldfriend.adapters.hermes import OldfriendMemoryProvider


def register(ctx):
    ctx.register_memory_provider(OldfriendMemoryProvider(person="Nora"))
"""
SESSION = """
import json, os
from agent.memory_manager import MemoryManager
from plugins.memory import load_memory_provider

def open_manager(session, **named):
    provider = load_memory_provider("oldfriend")
    assert provider.is_available()
    manager = MemoryManager()
    manager.add_provider(provider)
    manager.initialize_all(session_id=session, hermes_home=os.environ["HERMES_HOME"], **named)
    return manager

manager = open_manager("s1", platform="cli")
manager.sync_all("My cat is called Miso.", "Miso is from Berlin, I think.", session_id="s1")
manager.shutdown_all()
manager = open_manager("s2", platform="cron", agent_context="cron")
manager.sync_all("Summarize my zebra mails.", "Done.", session_id="s2")
before = manager.prefetch_all("What is my cat called?", session_id="s2")
found = manager.handle_tool_call("oldfriend_recall", {"query": "cat"})
names = [each["name"] for each in manager.get_all_tool_schemas()]
manager.shutdown_all()
print(json.dumps({"before": before, "found": json.loads(found), "names": names}))
"""


@pytest.mark.slow
@pytest.mark.skipif(not HERMES.is_dir(), reason="Hermes Agent is installed by make setup")
def test_hermes_recalls_what_was_said_in_an_earlier_session(tmp_path: Path) -> None:
    """Before a turn and by its tool; what a cron job says is not kept as the person's."""
    plugin = tmp_path / "plugins" / "oldfriend"
    plugin.mkdir(parents=True)
    (plugin / "__init__.py").write_text(PLUGIN, "utf-8")

    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SESSION],
        env={"PATH": os.defpath, "HOME": str(tmp_path), "PYTHONPATH": str(HERMES)}
        | {"HERMES_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout.splitlines()[-1])
    assert "My cat is called Miso." in told["before"]
    assert "My cat is called Miso." in {each["text"] for each in told["found"]["found"]}
    assert told["names"] == ["oldfriend_recall"]
    with Memory.open(f"sqlite:///{tmp_path / 'oldfriend.db'}", person="Nora") as memory:
        kept = [(each.role, each.session) for each in memory.messages()]
    assert kept == [("person", "s1"), ("companion", "s1")]
