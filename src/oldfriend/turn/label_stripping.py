"""Label stripping: removes leaked labels, day remarks and written tool calls in one pass."""

import re
from typing import Final

_TAG: Final = re.compile(
    r"</?(?:core|memory|heard|note|record|system|instructions?|tool_results?)(?:\s[^<>]{0,200})?/?>",
    re.IGNORECASE,
)
_CALL: Final = re.compile(r"<(/?)((?:tool|function)_calls?)>", re.IGNORECASE)
"""A tool request written as text instead of made; none of it is meant for the person."""
_DAY: Final = re.compile(r"\[\[\w{1,12}\.? \d{4}-\d\d-\d\d\]\]")
"""A remark of ours on the day of a message: "[[Tue 2026-09-15]]"."""
_OPEN_DAY: Final = re.compile(r"\[(?:\[[\w. -]{0,25}\]?)?\Z")
"""The end of a text that may become one."""
_TOKEN: Final = re.compile(r"[^<>]+|<|>")
_MAX_TAG_CHARS: Final = 220


def strip_labels_and_calls(text: str) -> str:
    """Return a text without labels, including those that appear when others are removed.

    Remarks on the day are removed first.
    """
    stripper = LabelStripper()
    stripper.feed(text)
    return stripper.take() + stripper.flush(keep_open_calls=True)


class LabelStripper:
    """A stream filter that passes on what is no label and can become none."""

    def __init__(self) -> None:
        """Start with no input."""
        self._unread = ""  # may become a remark on the day
        self._parts: list[str] = []
        self._open_tags: list[int] = []  # indexes in _parts that may become a tag
        self._calls: dict[str, int] = {}  # where the first open call of each name begins

    def feed(self, chunk: str) -> None:
        """Take the next chunk."""
        text = self._unread + chunk
        *before, last = _DAY.split(text)
        open_day = _OPEN_DAY.search(last)
        end = len(last) if open_day is None else open_day.start()
        self._unread = last[end:]
        self._read("".join([*before, last[:end]]))

    def _read(self, text: str) -> None:
        """Read a text without remarks on the day."""
        for token in _TOKEN.findall(text):
            if token == "<":
                self._open_tags.append(len(self._parts))
                self._parts.append("<")
            elif self._is_tag_open():
                self._parts[-1] += token
                if token == ">":
                    self._close_tag()
                elif len(self._parts[-1]) > _MAX_TAG_CHARS:
                    self._reject_open_tags()
            else:
                self._parts.append(token)

    def take(self) -> str:
        """Return what is certain by now; it is not returned again."""
        certain = min([len(self._parts), *self._open_tags[:1], *self._calls.values()])
        if not certain:
            return ""
        taken, self._parts = "".join(self._parts[:certain]), self._parts[certain:]
        self._open_tags = [index - certain for index in self._open_tags]
        self._calls = {name: index - certain for name, index in self._calls.items()}
        return taken

    def flush(self, *, keep_open_calls: bool = False) -> str:
        """Return what is left at the end, without a call that was never closed."""
        self._read(self._unread)
        self._unread = ""
        kept = len(self._parts) if keep_open_calls else min(self._calls.values(), default=None)
        left = "".join(self._parts[:kept])
        self._drop_from(0)
        return left

    def _is_tag_open(self) -> bool:
        return bool(self._open_tags) and self._open_tags[-1] == len(self._parts) - 1

    def _close_tag(self) -> None:
        """Decide about the last part, which ends with a closing bracket."""
        index = self._open_tags.pop()
        tag = self._parts[index]
        if _TAG.fullmatch(tag):
            self._drop_from(index)
            return
        call = _CALL.fullmatch(tag)
        name = call[2].lower() if call else ""
        if call and not call[1]:
            self._calls.setdefault(name, index)
        elif name in self._calls:
            self._drop_from(self._calls[name])
        else:
            self._reject_open_tags()

    def _reject_open_tags(self) -> None:
        """Give up the tags opened since the last open call; their brackets stay as text."""
        last_call = max(self._calls.values(), default=-1)
        while self._open_tags and self._open_tags[-1] > last_call:
            self._open_tags.pop()

    def _drop_from(self, start: int) -> None:
        """Remove all parts from an index on."""
        del self._parts[start:]
        while self._open_tags and self._open_tags[-1] >= start:
            self._open_tags.pop()
        self._calls = {name: begun for name, begun in self._calls.items() if begun < start}
