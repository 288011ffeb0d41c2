"""Markers: what a model writes into its reply for us, and the tool that it means.

"SCHEDULE: water the plants | 2026-12-01T09:00 | daily" stands for a call of `set_reminder`, and
"USED_MEMORY: k2, r3" tells the records that the reply rests on. Markers are taken out of the reply
while it is streamed. One within code, quotation marks or a quoted line is only shown, and one that
the model has read itself is none of its own.
"""

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from oldfriend.domain.json import JsonValue
from oldfriend.llm.model import CompletionRequest, PromptTurn, ToolCall, ToolResult
from oldfriend.prompts.prompt import get_prompt
from oldfriend.tasks.task_edits import ONCE
from oldfriend.turn.record_keys import RECORD_KEY, RecordKeys

FORM_PROMPT: Final = "markers/3"
WRITTEN: Final = "written-"
"""The ids of calls that were written as markers begin so."""
WORDS: Final = "words"
RULES: Final[Mapping[str, str]] = {
    "daily": "FREQ=DAILY",
    "weekly": "FREQ=WEEKLY",
    "monthly": "FREQ=MONTHLY",
    "weekdays": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkerForm:
    """The tool that a marker stands for, and which of its arguments stand between the bars."""

    tool: str
    fields: tuple[str, ...] = ()
    fixed: Mapping[str, JsonValue] = field(default_factory=dict)
    begins: str = ""  # the argument, which is one
    joined_by: str = ""  # all that stands there is one argument, joined by this
    has_words: bool = True  # the tool takes the person's words that ask for it


COMMAND: Final = "use_command"
MARKERS: Final[Mapping[str, MarkerForm]] = {
    "SCHEDULE": MarkerForm(tool="set_reminder", fields=("text", "due", "rrule")),
    "SCHEDULE_ACTION": MarkerForm(tool="schedule_action", fields=("text", "due", "rrule")),
    "CANCEL_TASK": MarkerForm(tool="update_task", fields=("id",), fixed={"action": "cancel"}),
    "UPDATE_TASK": MarkerForm(
        tool="update_task", fields=("id", "text", "due", "rrule"), fixed={"action": "change"}
    ),
    "LANG_SWITCH": MarkerForm(tool=COMMAND, fields=("argument",), fixed={"command": "language"}),
    "PROJECT_ACTIVATE": MarkerForm(
        tool=COMMAND, fields=("argument",), fixed={"command": "project"}
    ),
    "PROJECT_DEACTIVATE": MarkerForm(tool=COMMAND, fixed={"command": "project", "argument": "off"}),
    "SKILL_IMPROVE": MarkerForm(
        tool=COMMAND, fields=("argument",), fixed={"command": "skill"}, joined_by=": + "
    ),
    "HEARTBEAT_ADD": MarkerForm(
        tool=COMMAND, fields=("argument",), fixed={"command": "heartbeat"}, begins="add "
    ),
    "HEARTBEAT_REMOVE": MarkerForm(
        tool=COMMAND, fields=("argument",), fixed={"command": "heartbeat"}, begins="remove "
    ),
    "HEARTBEAT_INTERVAL": MarkerForm(
        tool=COMMAND, fields=("argument",), fixed={"command": "heartbeat"}, begins="every "
    ),
    "CORRECT_BELIEF": MarkerForm(tool="correct_belief", fields=("belief", "text", "value")),
    "FORGET_ABOUT": MarkerForm(tool="forget", fields=("about",)),
    "FORGET_CONVERSATION": MarkerForm(tool="new_conversation", has_words=False),
    "PURGE_FACTS": MarkerForm(tool=COMMAND, fixed={"command": "purge"}),
}
"""What each marker stands for."""
WITHOUT_EFFECT: Final = frozenset({"HEARTBEAT_OK", "PERSONALITY"})
"""Those that are only taken out."""
CITATION: Final = "USED_MEMORY"
"""Names the records of a prompt, by their keys, that the reply rests on."""
KEY: Final = re.compile(rf"(?<![a-z0-9_]){RECORD_KEY}\b", re.IGNORECASE)
NO_KEY: Final = re.compile(r"\W{0,3}none\b", re.IGNORECASE)
"""It rests on no record."""
KNOWN: Final = frozenset({*MARKERS, *WITHOUT_EFFECT, CITATION})
FAMILIES: Final = frozenset({"CANCEL", "FORGET", "HEARTBEAT", "PURGE", "SCHEDULE"})
"""First words of markers: others in capitals that begin a line so are taken out, too.

Names of settings begin with those that are left out, as "PROJECT_ID: 42" does.
"""
BARE: Final = frozenset(
    {"FORGET_CONVERSATION", "HEARTBEAT_OK", "PROJECT_DEACTIVATE", "PURGE_FACTS", CITATION}
)
"""Those that say all without a colon."""
COLONS: Final = (":", "\uff1a")
BRACKETS: Final = "[(*"
BEFORE: Final = f" \t•-{BRACKETS}"
"""What may stand before a marker and is taken out with it."""
EDGES: Final = f"{BEFORE}])_.\u3002"
QUOTES: Final = '"“”„«»'
JOINING: Final = "_/@#$=\\"
"""Behind these a name is only a part of a longer one."""
FENCES: Final = ("```", "~~~")
MAX_BEFORE: Final = 20
MAX_BLANKS: Final = 3
MAX_NAME_CHARS: Final = 32
MAX_WORDS_CHARS: Final = 200
NAME: Final = re.compile(r"[A-Za-z][A-Za-z_]*")
TIMED: Final = frozenset({"due", "rrule"})
CLOSING: Final = ".,;:!)]*_\u3002\uff0c\uff1b"
"""What ends a marker before prose that follows."""
SENTENCE_ENDS: Final = ".!?\u3002"
TOKEN: Final = re.compile(r"\s{0,3}(\w+(?:[:=;,+-]+\w+)*)(?: \d\d:\d\d)?")
DATE: Final = re.compile(r"\s{0,3}\d{4}-\d\d-\d\d")
KEY_LIST: Final = re.compile(
    rf"""
    [\s:\uff1a=*_\[(-]{{0,6}}         # between the name and the keys: ":** ["
    (?: none\b                       # it rests on no record
    | {RECORD_KEY}\b                 # k12
      (?: (?: [\s,;&+/\u3001\uff0c] | and\b ){{1,5}} {RECORD_KEY}\b )*  # , r3 and r4
    )
    (?: [\s,;&]{{1,5}} [kr]? \Z )?     # , r: it broke off
    [\])]?                          # the end of a bracket
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""The records that a citation names, or that there is none."""
KEY_SEPARATOR: Final = r"(?: [\s,;&+/\u3001\uff0c] | and\b )"
KEY_GROUP: Final = re.compile(
    rf"""
    [\[(\uff08\u3010]
    (?: {RECORD_KEY}                                   # [k2
      | (?: [^\W\d_]{{1,12}} [.:]? \s | [\u4e00-\u9fff]{{1,4}} ) (?-i: {RECORD_KEY} )  # (see k2
    )
    (?: {KEY_SEPARATOR}{{1,5}} {RECORD_KEY} ){{0,99}}  # , r3 and r4
    [\])\uff09\u3011]
    (?! \( | :\ ?http )                              # no link: [k2](https://...), [k2]: https://
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""The same as models write it within a sentence: "[k2, r3]"."""
KEY_GROUP_BEGUN: Final = re.compile(
    rf"""
    [\[(\uff08\u3010]
    (?: [^\W\d_]{{1,12}} (?: [.:]? \s? \Z | [.:]? \s ) | [\u4e00-\u9fff]{{1,4}} )?
    (?: {RECORD_KEY} {KEY_SEPARATOR}{{1,5}} ){{0,99}}             # [k2,
    (?: [kr] \d{{0,3}} (?: {KEY_SEPARATOR}{{0,5}} (?: an? )? ) )?  # r3 an
    \Z
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""The end of a text that may become one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """A marker that a model has written."""

    name: str  # in capitals
    payload: str  # what stands behind the colon


@dataclass(frozen=True, slots=True, kw_only=True)
class LineStart:
    """What is known of the part of a line before a place in it."""

    head: str = ""  # its first visible characters
    ticks: int = 0
    quotes: int = 0
    last: str = ""  # its last character, but for brackets

    def extend(self, text: str) -> "LineStart":
        """Return the same with a further part of the line."""
        return LineStart(
            head=(self.head + text.lstrip() if not self.head else self.head + text)[:3],
            ticks=self.ticks + text.count("`"),
            quotes=self.quotes + sum(map(text.count, QUOTES)),
            last=(self.last + text).rstrip(BRACKETS)[-1:],
        )

    @property
    def is_showing(self) -> bool:
        """Tell whether what comes next is only shown, or is a part of a longer name."""
        is_quoted = self.head.startswith(">") or self.quotes % 2 == 1
        return is_quoted or self.is_in_code

    @property
    def is_in_code(self) -> bool:
        """Tell whether what comes next is code, or a part of a longer name."""
        is_joined = self.last.isascii() and self.last.isalnum()  # scripts without spaces are not
        return self.ticks % 2 == 1 or is_joined or self.last in {*JOINING}


class MarkerStripper:
    """A stream filter that passes on all but markers, line by line, and keeps these."""

    def __init__(self, keys: Container[str] | None = None) -> None:
        """Start at the beginning of a line; the keys are those of the prompt, if known."""
        self._keys = keys
        self.found: list[Marker] = []
        self._unread: list[str] = []  # of this line, not passed on yet
        self._start = LineStart()  # what was passed on of it
        self._is_in_fence = False
        self._is_held = False  # a marker has begun, which ends with its line at the latest

    def feed(self, text: str) -> str:
        """Return what can be shown by now of the next chunk and of what was held back."""
        *lines, last = text.split("\n")
        shown = []
        for line in lines:
            self._unread.append(line)
            shown.append(self._end_line("\n"))
        self._unread.append(last)
        if not self._is_held:
            shown.append(self._take_certain())
        return "".join(shown)

    def flush(self, text: str = "", *, is_broken: bool = False) -> str:
        """Return what is left at the end of a paragraph, without a piece of a citation.

        Of what broke off the shortest piece goes, else only what can be nothing else.
        """
        shown = self.feed(text)
        left = "".join(self._unread)
        self._unread = [left[: self._find_piece(left, is_broken=is_broken)]]
        return shown + self._end_line("")

    def _find_piece(self, text: str, *, is_broken: bool) -> int:
        """Return where a piece of a citation begins at the end of a text; its length if nowhere."""
        for word in NAME.finditer(text, max(0, len(text) - len(CITATION))):
            is_last = word.end() == len(text) and not self._is_shown_only(text, word.start())
            name = word[0].upper()
            is_piece = is_last and CITATION.startswith(name) and name != CITATION
            is_first = not (self._start.head or text[: word.start()].strip(BEFORE))
            is_meant = is_broken and word[0].isupper() and (is_first or len(word[0]) > 3)
            if is_piece and ("_" in word[0] or is_meant):
                return find_begin(text, word.start())
        group = next(self._list_groups(KEY_GROUP_BEGUN, text), None)
        if group is None:
            return len(text)
        is_short = len(group[0]) <= len("[k")
        is_certain = (is_broken and is_short) or any(map(str.isdigit, group[0]))
        return len(text[: group.start()].rstrip(" ")) if is_certain else len(text)

    def _take_certain(self) -> str:
        """Return what is no marker of this line and can become none."""
        text = "".join(self._unread)
        names = NAME.finditer(text)
        first = next((each.start() for each in names if self._may_begin(text, each)), len(text))
        for pattern in (KEY_GROUP, KEY_GROUP_BEGUN):
            group = next(self._list_groups(pattern, text), None)
            if group is not None and group.start() < first:
                first, self._is_held = group.start(), pattern is KEY_GROUP
        until = find_begin(text, first)
        self._unread = [text[until:]]
        self._start = self._start.extend(text[:until])
        return text[:until]

    def _may_begin(self, text: str, found: re.Match[str]) -> bool:
        """Tell whether a marker begins with a name, as far as the line is known."""
        after = text[found.end() : found.end() + MAX_BLANKS + 1]
        rest = after.lstrip(" ")
        if not rest and len(after) <= MAX_BLANKS:
            may_begin = is_name(found[0]) if after else may_become_name(found[0])
            return may_begin and not self._is_shown_only(text, found.start())
        is_begun = is_name(found[0]) and (found[0].upper() in BARE or rest.startswith(COLONS))
        self._is_held = is_begun and not self._is_shown_only(text, found.start())
        return self._is_held

    def _is_shown_only(self, text: str, start: int) -> bool:
        """Tell whether what begins there stands in code or in quotation marks."""
        return self._is_in_fence or self._start.extend(text[:start]).is_showing

    def _list_groups(
        self, pattern: re.Pattern[str], text: str, until: int | None = None
    ) -> Iterator[re.Match[str]]:
        """Yield the groups of keys in a text that do not stand in code."""
        start, at = self._start, 0
        for group in pattern.finditer(text, 0, len(text) if until is None else until):
            start, at = start.extend(text[at : group.start()]), group.start()
            is_known = pattern is KEY_GROUP_BEGUN or self._has_known_key(group[0])
            if is_known and not (self._is_in_fence or start.is_in_code):
                yield group

    def _has_known_key(self, group: str) -> bool:
        """Tell whether a group names a record of the prompt, or looks like nothing else."""
        found, known = KEY.findall(group), self._keys
        if known is not None and any(each.lower() in known for each in found):
            return True
        is_bare = KEY.match(group, 1) is not None
        is_like_one = is_bare and (known is None or group.startswith(("[", "\u3010")))
        return is_like_one and not any(each[0].isupper() for each in found)

    def _end_line(self, end: str) -> str:
        """Return the rest of a line without its markers; nothing of a line that is only these."""
        text, count = "".join(self._unread), len(self.found)
        shown = "".join(self._resolve(text))
        is_only_markers = len(self.found) > count and not (self._start.head or shown.strip(EDGES))
        if self._start.extend(text).head in FENCES:
            self._is_in_fence = not self._is_in_fence
        self._unread, self._start, self._is_held = [], LineStart(), False
        return "" if is_only_markers else f"{shown}{end}"

    def _resolve(self, text: str) -> Iterator[str]:
        """Yield what stands between the markers of a text, and keep these."""
        names = [each for each in NAME.finditer(text) if self._is_marker(text, each)]
        begins = [*(find_begin(text, each.start()) for each in names), len(text)]
        at, shown = 0, self._start.head
        for group in self._list_groups(KEY_GROUP, text, begins[0]):
            self.found.append(Marker(name=CITATION, payload=group[0]))
            before = text[at : group.start()].rstrip(" ")
            yield before
            at, shown = group.end(), shown or before.strip()
            while not shown and text.startswith(" ", at):
                at += 1
        for name, begin, end in zip(names, begins, begins[1:], strict=False):
            written, rest = split_rest(name[0].upper(), text[name.end() : end])
            payload = written.strip(f"{EDGES}{''.join(COLONS)}")
            self.found.append(Marker(name=name[0].upper(), payload=payload))
            yield text[at:begin]
            shown = shown or text[at:begin].strip()
            if rest:
                yield f" {rest}" if shown else rest
            at, shown = end, shown or rest
        yield text[at:]

    def _is_marker(self, text: str, found: re.Match[str]) -> bool:
        """Tell whether a name of a whole line begins a marker."""
        if not is_name(found[0]) or self._is_shown_only(text, found.start()):
            return False
        name, after = found[0].upper(), text[found.end() :].lstrip(" ")
        is_first = not (self._start.head or text[: found.start()].strip(BEFORE))
        if name == CITATION and KEY_LIST.match(after):
            return True
        if not after.startswith(COLONS):
            return name in BARE and not after.strip(EDGES) and (is_first or found[0].isupper())
        if "_" in name:
            return name in KNOWN or is_first
        if name == "SCHEDULE":  # a word that is a heading elsewhere
            return DATE.match(after.partition("|")[2]) is not None
        return found[0].isupper() and is_first and bool(after[1:].strip(EDGES))


def split_rest(name: str, text: str) -> tuple[str, str]:
    """Return what belongs to a marker of what stands behind its name, and prose that follows.

    Only a time or a repetition tells by itself where it ends.
    """
    if name == CITATION:
        keys = KEY_LIST.match(text)
        rest = "" if keys is None else text[keys.end() :].lstrip()
        is_ended = keys is not None and (
            keys[0].endswith((")", "]")) or rest[:1] in {*SENTENCE_ENDS}
        )
        prose = rest.lstrip(CLOSING).strip() if is_ended else ""
        return (text[: len(text) - len(rest)], prose) if prose else (text, "")
    form = MARKERS.get(name)
    *_, last = parts = text.split("|", len(form.fields) - 1) if form and form.fields else [text]
    kind = form.fields[len(parts) - 1] if form and len(parts) > 1 else ""
    token = TOKEN.match(last) if kind in TIMED else None
    rest = last[token.end() :] if token else ""
    is_read = token is not None and (
        is_rule(token[1]) if kind == "rrule" else bool(DATE.match(last))
    )
    if not is_read or rest.strip()[:1].isalnum() or not any(map(str.isalnum, rest)):
        return text, ""
    return text[: len(text) - len(rest)], rest.lstrip(CLOSING).strip()


def is_rule(word: str) -> bool:
    """Tell whether a word says how something is repeated."""
    return word.lower() in {ONCE, *RULES} or "=" in word


def find_begin(text: str, start: int) -> int:
    """Return where the brackets and blanks before a place begin."""
    before = text[max(0, start - MAX_BEFORE) : start]
    return start - len(before) + len(before.rstrip(BEFORE))


def is_name(word: str) -> bool:
    """Tell whether a word names a marker: a known one in any case, others of a family."""
    is_of_family = "_" in word and word.isupper() and word.partition("_")[0] in FAMILIES
    return is_of_family or word.upper() in KNOWN


def may_become_name(word: str) -> bool:
    """Tell whether a word may name a marker with what follows."""
    upper = word.upper()
    is_of_family = word.isupper() and upper.partition("_")[0] in FAMILIES
    is_short = len(word) <= MAX_NAME_CHARS
    return is_short and (is_of_family or any(each.startswith(upper) for each in KNOWN))


def build_calls(
    markers: Sequence[Marker], request: CompletionRequest, *, words: str
) -> list[ToolCall]:
    """Return the calls that a model wrote in its answer to a request, each once.

    ``words`` are the person's last ones, with which a tool checks that they ask for it.
    """
    read = squeeze("\n".join(list_read(request)))
    calls: list[ToolCall] = []
    for marker in dict.fromkeys(markers):
        form = MARKERS.get(marker.name)
        if form is not None and squeeze(f"{marker.name}{marker.payload}") not in read:
            arguments = build_arguments(marker, form)
            if form.has_words:
                arguments[WORDS] = words[:MAX_WORDS_CHARS]
            calls.append(ToolCall(id=f"{WRITTEN}{len(calls)}", name=form.tool, arguments=arguments))
    return calls


def build_arguments(marker: Marker, form: MarkerForm) -> dict[str, JsonValue]:
    """Return the arguments of the tool that a marker stands for."""
    parts = [each.strip() for each in marker.payload.split("|")]
    if form.begins:
        parts = [f"{form.begins}{marker.payload}"]
    if form.joined_by:
        parts = [form.joined_by.join(filter(None, parts))]
    arguments: dict[str, JsonValue] = {
        name: part for name, part in zip(form.fields, parts, strict=False) if part
    }
    rule = str(arguments.get("rrule", "")).lower()
    if rule == ONCE and marker.name != "UPDATE_TASK":
        del arguments["rrule"]
    elif rule:
        arguments["rrule"] = RULES.get(rule, arguments["rrule"])
    return {**arguments, **form.fixed}


def list_read(request: CompletionRequest) -> Iterator[str]:
    """Yield all texts that a model was given to read, but for how markers are written."""
    yield request.system_prompt
    yield request.call_instructions
    for turn in request.turns:
        if isinstance(turn, PromptTurn | ToolResult):
            yield turn.text


def squeeze(text: str) -> str:
    """Return the letters and digits of a text, in one case."""
    return "".join(filter(str.isalnum, text.casefold()))


def build_call_form(tools: Sequence[str]) -> str:
    """Return how a model that cannot call these tools may write what it would call."""
    prompt = get_prompt(FORM_PROMPT)
    lines = [prompt.render(name.lower()) for name, form in MARKERS.items() if form.tool in tools]
    return prompt.render("form", lines="\n".join(lines)) if lines else ""


def find_cited_records(
    markers: Sequence[Marker], request: CompletionRequest, keys: RecordKeys
) -> tuple[str, ...] | None:
    """Return the ids of the records that a model says its reply rests on, as it names them.

    None if it says nothing: no citation, none that names a record of the prompt, or only such as
    stand in what it was given to read and are thus not its own.
    """
    written = [each.payload for each in markers if each.name == CITATION]
    own = [*list_own(written, request)] if written else []
    named = (key.lower() for payload in own for key in KEY.findall(payload))
    cited = tuple(dict.fromkeys(keys.ids[key] for key in named if key in keys.ids))
    return cited if cited or any(map(NO_KEY.match, own)) else None


def list_own(written: Sequence[str], request: CompletionRequest) -> Iterator[str]:
    """Yield what does not stand so in what a model was given to read, but for its own words."""
    given = [
        turn.text
        for turn in request.turns
        if not (isinstance(turn, PromptTurn) and turn.role == "companion")
    ]
    read = "\n".join([request.system_prompt, request.call_instructions, *given])
    squeezed = squeeze(read)
    for each in written:
        is_within_sentence = each.startswith(("[", "("))
        is_read = each in read if is_within_sentence else squeeze(f"{CITATION}{each}") in squeezed
        if not is_read:
            yield each
