"""Reply stream: sends a reply piece by piece, without what must not be shown.

What is streamed and what is stored are the same, character for character.
"""

from collections.abc import Container

from oldfriend.llm.model import TextCallback
from oldfriend.turn.label_stripping import LabelStripper
from oldfriend.turn.markers import Marker, MarkerStripper

PARAGRAPH_BREAK = "\n\n"
TRUNCATION_MARK = " …"
"""Ends a text that reached the model's output limit."""


MAX_BLANK_CHARS = 1_000
"""Characters of one run of whitespace that are kept; the rest is dropped."""


class OutputFilter:
    """A stream filter that removes leaked labels, markers and a leading role name."""

    def __init__(self, name: str, keys: Container[str] | None = None) -> None:
        """Create a filter for a companion of this name and the keys of a prompt's records."""
        self.roles = [f"{role}:" for role in ("assistant", "companion", name.lower())]
        self.pending = ""
        self.has_started = False
        self._labels = LabelStripper()
        self._markers = MarkerStripper(keys)

    def feed(self, chunk: str) -> str:
        """Return what can be shown by now, however the text is cut into chunks."""
        self._labels.feed(chunk)
        self.pending += self._markers.feed(self._labels.take())
        if not self.has_started:
            self.pending = self._without_role()
            if any(role.startswith(self.pending.lower()) for role in self.roles):
                return ""  # it may become a role name
        passed = self.pending.rstrip()
        self.pending = self.pending[len(passed) :][:MAX_BLANK_CHARS]
        self.has_started = self.has_started or bool(passed)
        return passed

    def flush(self, *, is_broken: bool = False) -> str:
        """Return the rest that was held back; empty at the end of most replies."""
        left = self._markers.flush(self._labels.flush(), is_broken=is_broken)
        rest, self.pending = (self.pending + left).rstrip(), ""
        return rest

    @property
    def markers(self) -> list[Marker]:
        """Return the markers that were removed so far."""
        return self._markers.found

    def _without_role(self) -> str:
        text, position = self.pending, _skip_whitespace(self.pending, 0)
        while role := next(
            (e for e in self.roles if text[position : position + len(e)].lower() == e), ""
        ):
            position = _skip_whitespace(text, position + len(role))
        return text[position:]


def filter_output(text: str, *, name: str) -> str:
    """Return a whole text of a model as the stream of a reply would show it."""
    output_filter = OutputFilter(name)
    return f"{output_filter.feed(text)}{output_filter.flush()}".strip()


def _skip_whitespace(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():
        position += 1
    return position


class ReplyStream:
    """A stream of a reply that remembers what it has written."""

    def __init__(self, listener: TextCallback | None, *, name: str, text: str = "") -> None:
        """Start with the listener, if any, the companion's name and the text already written."""
        self.listener = listener
        self.name = name
        self._written = [text] if text else []
        self._keys: Container[str] | None = None
        self._filter = OutputFilter(name)
        self._has_input = False
        self._is_new_paragraph = True
        self.markers: list[Marker] = []  # of the paragraphs that have ended

    @property
    def text(self) -> str:
        """Return everything written so far."""
        if len(self._written) > 1:
            self._written = ["".join(self._written)]
        return "".join(self._written)

    def limit_keys(self, keys: Container[str]) -> None:
        """Know the keys of the prompt, of which there may be more later."""
        self._keys = keys
        if not self._has_input:
            self._filter = OutputFilter(self.name, keys)

    async def write(self, chunk: str) -> None:
        """Write a chunk of the model's output."""
        self._has_input = self._has_input or bool(chunk)
        await self._emit(self._filter.feed(chunk))

    async def end_paragraph(
        self, full_text: str = "", *, is_truncated: bool = False, is_broken: bool = False
    ) -> None:
        """End a paragraph: write what was held back, or the full text if no chunks came.

        It is broken if its model has failed.
        """
        if not self._has_input:
            await self.write(full_text)
        is_broken = is_broken or is_truncated
        await self._emit(self._filter.flush(is_broken=is_broken))
        if not is_broken:  # of what broke off nobody knows how it goes on
            self.markers += self._filter.markers
        if is_truncated and self.text and not self._is_new_paragraph:
            await self._emit(TRUNCATION_MARK)
        self._filter = OutputFilter(self.name, self._keys)
        self._has_input, self._is_new_paragraph = False, True

    async def write_paragraph(self, text: str) -> None:
        """Write text of our own as a paragraph."""
        await self._emit(text)
        self._is_new_paragraph = True

    async def _emit(self, text: str) -> None:
        """Write text, separated from the previous paragraph by an empty line."""
        if not text:
            return
        if self._is_new_paragraph and self._written:
            text = f"{PARAGRAPH_BREAK}{text}"
        self._is_new_paragraph = False
        self._written.append(text)
        if self.listener is not None:
            await self.listener(text)
