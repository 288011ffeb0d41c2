"""Page sandbox: finds title and text of a page, in a process with limits of its own.

``page_reader`` starts it as ``python -m``. The task arrives as one line of JSON on standard input,
the bytes of the page after it; title and text leave as one line of JSON. A page made to harm its
parser ends this process and nothing else.
"""

import codecs
import json
import os
import sys
from typing import Final

from oldfriend.domain.json import JsonValue
from oldfriend.sandbox.child_process import OUT_OF_MEMORY, apply_limits, parse_limits

MAX_TEXT_CHARS: Final = 40_000
MAX_TITLE_CHARS: Final = 300


def main() -> int:
    """Read the task and the page, and report what was found."""
    output = os.fdopen(os.dup(1), "wb")
    task: dict[str, JsonValue] = json.loads(sys.stdin.buffer.readline())
    apply_limits(parse_limits(task.get("limits")))
    try:
        found = read_content(sys.stdin.buffer.read(), task)
    except ImportError:
        found = {"missing": True}
    except MemoryError:
        return OUT_OF_MEMORY
    output.write(json.dumps(found).encode() + b"\n")
    output.flush()
    return 0


def read_content(content: bytes, task_json: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return title and text of a page. Raises ImportError if the extra is not installed."""
    decoded = decode(content, str(task_json.get("charset") or ""))
    if task_json.get("content_type") == "text/plain":
        text = decoded if decoded is not None else content.decode("utf-8", "replace")
        return cut("", text)
    from trafilatura import bare_extraction

    found = bare_extraction(
        content if decoded is None else decoded,
        url=str(task_json.get("url") or ""),
        with_metadata=True,
        include_comments=False,
        as_dict=True,
    )
    values = found if isinstance(found, dict) else {}
    return cut(str(values.get("title") or ""), str(values.get("text") or ""))


def cut(title: str, text: str) -> dict[str, JsonValue]:
    """Return title and text as far as they are reported."""
    return {"title": title[:MAX_TITLE_CHARS], "text": text[:MAX_TEXT_CHARS]}


def decode(content: bytes, charset: str) -> str | None:
    """Decode a page as its server says; None if it does not say, and the parser has to find out."""
    try:
        return content.decode(codecs.lookup(charset).name, "replace") if charset else None
    except (LookupError, ValueError):
        return None


if __name__ == "__main__":
    raise SystemExit(main())
