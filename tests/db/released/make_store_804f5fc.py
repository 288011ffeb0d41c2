"""Makes store_804f5fc.* with the commands of commit 804f5fc, and no others.

git worktree add OLD 804f5fc && .venv/bin/python tests/db/released/make_store_804f5fc.py OLD
"""

import gzip
import json
import subprocess
import sys
import tempfile
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Any

HERE, OLD, HOME = Path(__file__).parent, Path(sys.argv[1]).resolve(), Path(tempfile.mkdtemp())
DATA, EXPORT = HOME / "data", HOME / "all.jsonl"
ENVIRONMENT = {
    "PYTHONPATH": str(OLD / "src"),
    "HOME": str(HOME),
    "OLDFRIEND_DATA": str(DATA),
    "LANG": "C.UTF-8",
    "TZ": "UTC",
}
SHOWN = ("kind", "text", "status", "key", "value", "due_at")

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
CHAT = """\
03/05/2024, 18:30 - Nora: We moved to Lisbon!
03/05/2024, 18:31 - Ana: My sister Ana lives in Lisbon now.
04/05/2024, 09:00 - Nora: My dog is called Rufus.
"""
FORGOTTEN, DENIED, WAITING = NORA[9], "green", "Remember that the boat is moored at pier nine."


def run(*arguments: str | Path, within_s: float | None = None) -> str:
    """What a command of that version prints; past its time it is killed."""
    return subprocess.run(
        [sys.executable, "-m", "oldfriend", *arguments],
        cwd=OLD,
        env=ENVIRONMENT,
        check=True,
        capture_output=True,
        text=True,
        timeout=within_s,
    ).stdout


def told(*arguments: str) -> Any:
    """The same of a command that prints JSON."""
    return json.loads(run(*arguments, "--json"))


def exported(kind: str) -> list[dict[str, Any]]:
    """Everything of one kind that is kept."""
    EXPORT.unlink(missing_ok=True)
    run("export", EXPORT)
    rows = [json.loads(line) for line in EXPORT.read_text("utf-8").splitlines()]
    return [row for row in rows if row.get("type") == kind]


def beliefs_of(person: str) -> dict[str, dict[str, Any]]:
    """All that is or was believed of somebody, by its id."""
    listed = told("--person", person, "memory", "list", "--all")
    return {each["id"]: {name: each.get(name) for name in SHOWN} for each in listed}


def talk() -> None:
    """Two people tell things in four languages, of which some are put right."""
    for said in (NORA, LATER):
        for text in said:
            run("say", text)
        run("consolidate", "--now")
    for text in OMAR:
        run("--person", "Omar", "say", "--new-person", text)
    run("--person", "Omar", "consolidate", "--now")


def change_it() -> None:
    """Import an old chat, deny a belief, forget a message, and say who everybody is."""
    chat = HOME / "WhatsApp Chat with Ana.txt"
    chat.write_text(CHAT)
    run("import", chat, "--me", "Nora")
    (denied,) = (each["id"] for each in told("facts") if DENIED in each["text"])
    run("memory", "reject", denied)
    (gone,) = (each["id"] for each in exported("message") if each["text"] == FORGOTTEN)
    run("forget", gone, "--yes")
    run("core", "name", "Mira")
    run("core", "persona", "You are Mira, calm and exact.")
    run("core", "user", "Nora is a nurse who sails on Sundays.")


def be_killed() -> None:
    """Be killed while a message that was accepted waits for its answer."""
    slowly = ("--set", "limits.messages_per_minute=1", "--person", "Omar", "say")
    run(*slowly, "And good evening!")
    with suppress(subprocess.TimeoutExpired):
        run(*slowly, WAITING, within_s=15)


def write_down() -> None:
    """Keep the store, all that this version exports of it, and what its commands say of it."""
    people = [each["name"] for each in exported("person")]
    said = {
        "people": people,
        "beliefs": {person: beliefs_of(person) for person in people},
        "imports": run("import", "list"),
        "core": told("core"),
        "name": told("core", "name"),
        "letters": told("letters"),
        "waiting": WAITING,
        "forgotten": FORGOTTEN,
        "forgetting_key": tomllib.loads((HOME / ".config/oldfriend/keys.toml").read_text())[
            "forgetting"
        ],
    }
    assert not (DATA / "oldfriend.db-wal").exists()  # all of it is in the file
    for name, content in (
        ("store_804f5fc.db.gz", (DATA / "oldfriend.db").read_bytes()),
        ("store_804f5fc.jsonl.gz", EXPORT.read_bytes()),
    ):
        (HERE / name).write_bytes(gzip.compress(content, mtime=0))
    text = json.dumps(said, ensure_ascii=False, indent=1)
    (HERE / "store_804f5fc.json").write_text(f"{text}\n", "utf-8")


talk()
change_it()
be_killed()
write_down()
