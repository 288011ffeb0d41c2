"""Makes store_804f5fc.db.gz and .json with the commands of commit 804f5fc, and no others.

git worktree add OLD 804f5fc && python tests/db/released/make_store_804f5fc.py OLD
"""

import gzip
import json
import signal
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

HERE = Path("/work/runs/peek")
OLD, HOME = Path(sys.argv[1]).resolve(), Path(tempfile.mkdtemp())
DATA = HOME / "data"
ENVIRONMENT = {
    "PYTHONPATH": str(OLD / "src"), "HOME": str(HOME), "OLDFRIEND_DATA": str(DATA),
    "LANG": "C.UTF-8", "TZ": "UTC",
}  # fmt: skip

NORA = [
    "My name is Nora and I live in Porto.",
    "My sister Ana lives in Bremen.",
    "My cat is called Miso.",
    "I work as a nurse.",
    "I'm allergic to peanuts.",
    "Remember that the spare key is with Mrs. Lopes.",
    "Mein Bruder Jonas wohnt in Hamburg.",
    "我对花生过敏。",
    "Mi amiga Eva vive en Sevilla.",
    "I have gambling debts of 4711 euros at the Golden Heron casino.",
    "My favourite colour is green.",
    "I promise I'll call Ana tomorrow at five.",
]
LATER = [
    "I moved to Lisbon.",
    "Remind me to call the dentist on 3 March 2031.",
    "No, my cat is called Mizo, not Miso.",
    "I'm training for a marathon in May.",
]
OMAR = ["I live in Cairo and my dog is called Rex.", "Ich arbeite als Lehrer.", "我妹妹叫小雨。"]
WAITING = "Remember that the boat is moored at pier nine."
FORGOTTEN, TRACES = "gambling debts", ["gambling", "Golden Heron", "4711 euros"]
DENIED = "green"
CHAT = """\
03/05/2024, 18:30 - Nora: We moved to Lisbon!
03/05/2024, 18:31 - Ana: My sister Ana lives in Lisbon now.
04/05/2024, 09:00 - Nora: My dog is called Rufus.
"""


def old(*arguments: str | Path) -> str:
    """What a command of that version prints."""
    command = [sys.executable, "-m", "oldfriend", *arguments]
    return subprocess.run(
        command, cwd=OLD, env=ENVIRONMENT, check=True, capture_output=True, text=True
    ).stdout


def told(*arguments: str | Path) -> Any:
    """The same of one that prints JSON."""
    return json.loads(old(*arguments, "--json"))


def exported() -> list[dict[str, Any]]:
    """All that is kept, line by line."""
    path = HOME / "all.jsonl"
    path.unlink(missing_ok=True)
    old("export", path)
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()][1:]


def beliefs_of(person: str) -> dict[str, Any]:
    """All that is or was believed of somebody, by its id."""
    found = told("--person", person, "memory", "list", "--all")
    return {each["id"]: {k: each.get(k) for k in KEPT} for each in found}


KEPT = ("kind", "text", "status", "key", "value", "due_at")


def make() -> None:
    """Talk, correct, deny, import, forget; and be killed while a message waits for its answer."""
    for text in NORA:
        old("say", text)
    old("consolidate", "--now")
    for text in LATER:
        old("say", text)
    old("consolidate", "--now")
    for text in OMAR:
        old("--person", "Omar", "say", "--new-person", text)
    old("--person", "Omar", "consolidate", "--now")
    (HOME / "WhatsApp Chat with Ana.txt").write_text(CHAT)
    old("import", HOME / "WhatsApp Chat with Ana.txt", "--me", "Nora")
    (denied,) = (each["id"] for each in told("facts") if DENIED in each["text"])
    old("memory", "reject", denied)
    (gone,) = (
        each["id"] for each in exported()
        if each.get("type") == "message" and each["role"] == "person" and FORGOTTEN in each["text"]
    )  # fmt: skip
    old("forget", gone, "--yes")
    old("core", "name", "Mira")
    old("core", "persona", "You are Mira, calm and exact.")
    old("core", "user", "Nora is a nurse who sails on Sundays.")
    try:
        slow = [sys.executable, "-m", "oldfriend", "--set", "limits.messages_per_minute=1"]
        for text in ("And good evening!", WAITING):
            subprocess.run(
                [*slow, "--person", "Omar", "say", text],
                cwd=OLD, env=ENVIRONMENT, check=False, capture_output=True, timeout=15,
            )  # fmt: skip
    except subprocess.TimeoutExpired:  # it was killed while it waited for its turn
        pass


def tell() -> dict[str, Any]:
    """What that version says of it all."""
    lines = exported()
    people = [each["name"] for each in lines if each.get("type") == "person"]
    keys = tomllib.loads((HOME / ".config" / "oldfriend" / "keys.toml").read_text())
    return {
        "people": people,
        "messages": {each["id"]: each["text"] for each in lines if each.get("type") == "message"},
        "beliefs": {person: beliefs_of(person) for person in people},
        "imports": old("import", "list"),
        "core": told("core"),
        "name": told("core", "name"),
        "letters": told("letters"),
        "waiting": WAITING,
        "denied": DENIED,
        "forgotten": TRACES,
        "forgetting_key": keys["forgetting"],
    }


if __name__ == "__main__":
    assert signal.SIGKILL
    make()
    said = tell()
    assert not (DATA / "oldfriend.db-wal").exists()
    packed = gzip.compress((DATA / "oldfriend.db").read_bytes(), mtime=0)
    (HERE / "store_804f5fc.db.gz").write_bytes(packed)
    text = json.dumps(said, ensure_ascii=False, indent=1)
    (HERE / "store_804f5fc.json").write_text(text + "\n", "utf-8")
