"""Tool words: what tools and their results are called, and how the person is asked before one runs.

Yes and no are whole messages of a closed list: "yes, but tomorrow" is neither.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from oldfriend.domain.buttons import Button
from oldfriend.lang.language_pack import list_languages, load_language_pack
from oldfriend.turn.intent import EDGE_PUNCTUATION

Answer = Literal["yes", "no"]
COMMAND: Final = re.compile(r"/([a-z]{1,20})(?:@\w{1,64})?")
MAX_ANSWER_CHARS: Final = 40
QUESTION_MARKS: Final = "?\uff1f\u061f\u037e"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolWords:
    """The words of one language for tools."""

    labels: Mapping[str, str]  # by the name of a tool
    fields: Mapping[str, str]  # by the name of a field of a result
    say: Mapping[str, str]
    sky: Mapping[str, str]  # by the code of the sky (WMO 4677)
    buttons: tuple[Button, ...]  # below the question before a tool runs

    def get_label(self, name: str, own_label: str = "") -> str:
        """Return what a tool is called for people."""
        return self.labels.get(name) or own_label or name.replace("_", " ")

    def get_field_label(self, name: str) -> str:
        """Return what a field of a result is called for people."""
        return self.fields.get(name, name.replace("_", " "))

    def get_sky(self, code: str) -> str:
        """Return what a code of the sky, "sky:61", means."""
        number = code.rpartition(":")[2]
        return next((text for codes, text in self.sky.items() if number in codes.split()), number)


@cache
def load_tool_words(language: str) -> ToolWords:
    """Load the words of a language, or of English."""
    code = language if language in list_languages("tools") else "en"
    words = load_language_pack(code).read("tools")
    return ToolWords(
        labels=words["labels"],
        fields=words["fields"],
        say=words["say"],
        sky=words["sky"],
        buttons=tuple(Button(words["buttons"][name], f"/{name}") for name in ("yes", "no")),
    )


@cache
def load_answers() -> Mapping[str, Answer]:
    """Load the whole messages that say yes or no, of all languages."""
    answers: dict[str, Answer] = {}
    for code in list_languages("tools"):
        words = load_language_pack(code).read("tools")
        answers |= {normalize_answer(each): "yes" for each in words["answers"]["yes"]}
        answers |= {normalize_answer(each): "no" for each in words["answers"]["no"]}
    return answers


def read_answer(text: str) -> Answer | None:
    """Return whether a whole message says yes or no; None if it says anything else."""
    if len(text) > MAX_ANSWER_CHARS or any(each in text for each in QUESTION_MARKS):
        return None
    return load_answers().get(normalize_answer(text))


def normalize_answer(text: str) -> str:
    """Return a message without case, punctuation and emoji beside words, and a command's slash."""
    command = COMMAND.fullmatch(text.strip().lower())
    if command is not None:
        return command[1]
    words = "".join(each for each in text if unicodedata.category(each) not in {"So", "Sk", "Mn"})
    plain = " ".join(words.casefold().strip(EDGE_PUNCTUATION).replace(",", " ").split())
    return plain or text.strip()
