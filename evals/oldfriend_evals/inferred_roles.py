"""Share of roles that are inferred rightly of conversations without any.

All conversations and lives that name roles, with the roles removed: whole, and session by session.
Training material: the thresholds were chosen on it.

    python -m oldfriend_evals.inferred_roles
"""

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from oldfriend.transfer.role_inference import MIN_MESSAGES, find_assistant
from oldfriend_evals.blind_lives import FOLDER as LIVES
from oldfriend_evals.blind_lives import list_folders, load_blind_life, read_lines

CONVERSATIONS: Final = LIVES.parent / "conversations"
Line = tuple[str, str, str]
"""Session, role and text of a message."""


def list_conversations() -> Iterator[tuple[str, list[Line]]]:
    """Yield name and messages of each conversation; in a life all is one session."""
    for file in sorted(CONVERSATIONS.glob("*.jsonl")):
        if not file.name.endswith(".questions.jsonl"):
            yield file.stem, read_conversation(file)
    for folder in list_folders():
        life = load_blind_life(folder)
        yield folder.name, [("", each["from"], each["text"]) for each in life.messages]


def read_conversation(file: Path) -> list[Line]:
    """Read the messages of a conversation."""
    records: list[Mapping[str, Any]] = [json.loads(line) for line in read_lines(file)]
    return [
        (each["session"], each.get("role") or each["speaker"], each["text"]) for each in records
    ]


def judge(name: str, lines: Sequence[Line]) -> str:
    """Return whether what is inferred of messages is right, wrong or missing."""
    found = find_assistant(lines)
    if not name.startswith("assistant"):
        return "none, rightly" if found is None else "wrong"
    return "found" if found == "companion" else "missing" if found is None else "wrong"


def main() -> None:
    """Print what is inferred of each conversation, and of its sessions."""
    totals: dict[str, Counter[str]] = {"whole": Counter(), "sessions": Counter()}
    for name, lines in list_conversations():
        sessions: dict[str, list[Line]] = defaultdict(list)
        for line in lines:
            sessions[line[0]].append(line)
        whole = judge(name, lines)
        long = [each for each in sessions.values() if len(each) >= MIN_MESSAGES]
        counted = Counter(judge(name, each) for each in long)
        totals["whole"][whole] += 1
        totals["sessions"] += counted
        sys.stdout.write(f"{name}: {whole}; sessions: {dict(counted)}\n")
    sys.stdout.write("".join(f"{part}: {dict(each)}\n" for part, each in totals.items()))


if __name__ == "__main__":
    main()
