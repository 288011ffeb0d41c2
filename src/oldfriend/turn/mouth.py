"""How does a reply leave the turn? Piece by piece, without what was never meant to be said.

What is said live and what is kept are the same, character for character.
"""

import re

from oldfriend.llm.model import Say
from oldfriend.turn.labelling import without_tags

OPEN_CALL = re.compile(r"<(?:tool|function)_calls?>.*\Z", re.IGNORECASE | re.DOTALL)
PERHAPS_A_TAG = re.compile(r"<[^>]{0,220}\Z")
UP_TO_AN_END = re.compile(r"[^>]*>|[^>]+")
"""A label is complete at its last character, and each is looked at as soon as it is complete."""
PARAGRAPH = "\n\n"
CUT = " …"
"""Stands at the end of what reached the model's limit."""


class Sieve:
    """Takes leaked labels and the name of a role at the beginning out of a stream of words."""

    def __init__(self, name: str) -> None:
        """Know what the companion is called."""
        self.roles = [f"{role}:" for role in ("assistant", "companion", name.lower())]
        self.held = ""
        self.has_begun = False

    def pass_on(self, piece: str) -> str:
        """What of the words so far can be said now; however they are cut into pieces."""
        return "".join([self._pass_on(part) for part in UP_TO_AN_END.findall(piece)])

    def _pass_on(self, piece: str) -> str:
        self.held = without_tags(self.held + piece)
        if not self.has_begun:
            self.held = self._without_role()
            if any(role.startswith(self.held.lower()) for role in self.roles):
                return ""  # it may become the name of a role
        passed = PERHAPS_A_TAG.sub("", OPEN_CALL.sub("", self.held)).rstrip()
        self.held = self.held[len(passed) :]
        self.has_begun = self.has_begun or bool(passed)
        return passed

    def rest(self) -> str:
        """What was held back and is nothing to hold back; empty at the end of most replies."""
        rest, self.held = OPEN_CALL.sub("", self.held).rstrip(), ""
        return rest

    def _without_role(self) -> str:
        text = self.held.lstrip()
        while role := next((each for each in self.roles if text.lower().startswith(each)), ""):
            text = text[len(role) :].lstrip()
        return text


class Mouth:
    """Says a reply, and knows what it has said."""

    def __init__(self, listener: Say | None, *, name: str, text: str = "") -> None:
        """Know who listens, if anybody does, who speaks, and what was said already."""
        self.listener = listener
        self.name = name
        self.text = text
        self._sieve = Sieve(name)
        self._was_fed = False
        self._is_new_paragraph = True

    async def say(self, piece: str) -> None:
        """Say a piece of what the model is writing."""
        self._was_fed = self._was_fed or bool(piece)
        await self._utter(self._sieve.pass_on(piece))

    async def end(self, whole: str = "", *, is_cut: bool = False) -> None:
        """End a paragraph: say what was held back, or all of it if it did not come in pieces."""
        if not self._was_fed:
            await self.say(whole)
        await self._utter(self._sieve.rest())
        if is_cut and self.text and not self._is_new_paragraph:
            await self._utter(CUT)
        self._sieve, self._was_fed, self._is_new_paragraph = Sieve(self.name), False, True

    async def add(self, words: str) -> None:
        """Say words of our own, as a paragraph of theirs."""
        await self._utter(words)
        self._is_new_paragraph = True

    async def _utter(self, words: str) -> None:
        """Say it, a line away from the paragraph before."""
        if not words:
            return
        if self._is_new_paragraph and self.text:
            words = f"{PARAGRAPH}{words}"
        self._is_new_paragraph = False
        self.text += words
        if self.listener is not None:
            await self.listener(words)
