"""Task phrases: reads what a sentence asks to do with reminders and to-dos, by the packs' words."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import Final, Literal

from oldfriend.lang.chinese_variants import to_simplified
from oldfriend.lang.language_pack import choose_language_with, get_traits, load_language_pack
from oldfriend.search.tokenizer import stem_word, tokenize
from oldfriend.tasks.asked_task import ACTIONS, ASKABLE, Action, AskedTask
from oldfriend.tasks.left_over import is_sigh, is_when
from oldfriend.tasks.request_features import Cue
from oldfriend.tasks.request_tagger import tag_message
from oldfriend.tasks.sentence_words import add_negation, join_words, remove_run, remove_words
from oldfriend.tasks.tagged_requests import read_tagged
from oldfriend.tasks.time_words import MAX_REQUEST_CHARS, TimeBook, find_start, load_time_book
from oldfriend.tasks.told_time import Question, Told, collect
from oldfriend.tasks.zone_words import read_with_zones

EDGES: Final = " \t\n.,;:!?¡¿。，；：！？、…-–—\"'“”„«»"
PRONOUN: Final = re.compile(r"(?<=[\s-])\w+$")
"""Whom to remind, in the words that ask for it: the "me" of "remind me"."""
_SPACES: Final = re.compile(r"\s+")
ANSWERS: Final = ("yes", "never_mind", "morning", "evening", "first", "second")
_CLAUSE_END: Final = re.compile(r"[,;.!?…，；。！？\n]")
_SENTENCE_END: Final = re.compile(r"[.!?…]\s|[。！？\n]")
MIN_CHARS: Final = 2
MAX_ITEM_CHARS: Final = 3
"""A thing on a list has as few characters where no spaces are written; more may be a deed."""
EARLIEST_ALARM: Final = 5
"""An alarm at this hour or a later one, of another day, is one of the morning."""
Trigger = Literal["remind", "remind_timed", "remind_final", "remind_noun"]
TRIGGERS: Final[tuple[Trigger, ...]] = ("remind", "remind_timed", "remind_final", "remind_noun")
"""What asks for a reminder: a request before what to remind of, one only with a time, one after
what to remind of, or a noun."""


class TaskPhrases:
    """The ways of one language to ask for reminders and to-dos."""

    def __init__(self, language: str) -> None:
        """Compile the patterns of a language's pack."""
        pack = load_language_pack(language).read("tasks")
        self.language = language
        self._is_spaced = get_traits(language).spaces
        edges = ("(?<![^\\W_])", "(?![^\\W\\d_])") if self._is_spaced else ("", "")
        self._triggers: list[tuple[Trigger, re.Pattern[str]]] = [
            (
                kind,
                self._compile(
                    f"{edges[0]}(?:{each}){edges[1] if 'remind' != kind != 'remind_timed' else ''}"
                ),
            )
            for kind in TRIGGERS
            for each in pack[kind]
        ]
        finals = "|".join(f"(?:{each})" for each in pack["remind_final"])
        self._trailing = self._compile(f"(?<=[\\s,;.:，。–—-])(?:{finals})[\\s,.!?]*$")
        self._starting = self._compile(f"{edges[0]}(?:{pack['starting']})\\s?$")
        self._filler = self._compile(f"(?:{pack['filler']})")
        self._polite = self._compile(f"{edges[0]}(?:{pack['polite']}){edges[1]}")
        self._lead = self._compile(f"(?:{pack['lead']})(?:(?<=['’])|{edges[1]})[\\s,，]*")
        self._please = self._compile(f"{edges[0]}(?:{pack['please']})[\\s,.!]*$")
        self._again = self._compile(f"(?:{pack['again']})")
        self._the = self._compile(f"{edges[0]}(?:{pack['the']}){edges[1]}")
        self._answers = {name: self._compile(f"(?:{pack[name]})") for name in ANSWERS}
        self.sentences: dict[Action, list[re.Pattern[str]]] = {
            action: [self._compile(each) for each in pack[action]] for action in ACTIONS
        }
        self.reminder_name: str = pack["phrases"]["name"]
        self.wake: str = pack["wake"]
        self.request: str = pack["request"]
        self._object = self._compile(
            "".join(rf"{each}\s+" for each in PRONOUN.findall(self.request))
        )
        self._wakes = self._compile(pack["wakes"])
        self._negation, self._negated = map(self._compile, (pack["negation"], pack["negated"]))
        self._waking = self._compile(pack["waking"])
        self._refused_before = self._compile(f"(?:{pack['refused_before']})$")
        self._refused_after = self._compile(pack["refused_after"])
        self._joints = self._compile(pack["joints"])
        self._getting: str = pack["gets"]
        self._edges = edges
        self._bare_times: tuple[str, str] = (pack["bare_time"], pack["bare_amount"])

    @cached_property
    def _told(self) -> re.Pattern[str]:
        return self._compile(load_language_pack(self.language).read("tasks")["told"])

    @cached_property
    def _forgets(self) -> re.Pattern[str]:
        return self._compile(load_language_pack(self.language).read("tasks")["forgets"])

    @cached_property
    def _leading(self) -> dict[str, re.Pattern[str]]:
        pack = load_language_pack(self.language).read("tasks")
        edge = "(?![^\\W\\d_])" if self._is_spaced else ""
        return {
            name: self._compile(
                rf"(?P<said>{pack[name]}){edge}(?P<mark>[\s,.;:!，。；！…–—-]*)"
                rf"(?P<but>(?:{pack['but']}){edge}[\s,，]*)?(?P<rest>.*)"
            )
            for name in ("yes", "no")
        }

    @cached_property
    def book(self) -> TimeBook:
        """The ways of the language to say times; compiled when a request first needs them."""
        return load_time_book(self.language)

    @cached_property
    def _affirming(self) -> re.Pattern[str]:
        """What affirms at the beginning or the end of an answer: "of course"."""
        words: list[str] = load_language_pack(self.language).read("attribution_cues")["affirmation"]
        said = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
        start, end = self._edges
        return self._compile(f"^(?:(?:{said}){end}[\\s,，]*)+|(?:[\\s,，]*{start}(?:{said}))+$")

    @cached_property
    def _without(self) -> re.Pattern[str]:
        """What takes a thing out of what was just put on the list: "no rice"."""
        return self._compile(load_language_pack(self.language).read("tasks")["without"])

    def _compile(self, source: str) -> re.Pattern[str]:
        return re.compile(source, re.IGNORECASE)

    def read(self, sentence: str) -> AskedTask | None:
        """Return what a sentence asks for about the list, as a whole."""
        text = to_simplified(_SPACES.sub(" ", sentence)).strip(EDGES)
        if not MIN_CHARS <= len(text) <= MAX_REQUEST_CHARS:
            return None
        is_question = sentence.rstrip().endswith(("?", "？"))
        asked = self.read_whole(text, ASKABLE if is_question else ACTIONS)
        if asked is not None and is_sigh(text, asked, self._again, is_question=is_question):
            return None
        return asked

    def read_whole(self, text: str, actions: Sequence[Action]) -> AskedTask | None:
        """Return what a sentence asks for about a task, as a whole."""
        bare = self.strip_polite(text)
        for action in actions:
            if action == "done" and self._negation.search(text):
                continue
            for pattern in self.sentences[action]:
                match = pattern.fullmatch(bare) or pattern.fullmatch(text)
                asked = match and self.read_action(action, match)
                if asked:
                    return asked
        return None

    def strip_polite(self, text: str) -> str:
        """Return a sentence without the polite words that begin it."""
        text = text[:MAX_REQUEST_CHARS]
        while match := self._polite.match(text):
            if not match.end():
                break
            text = text[match.end() :].lstrip(EDGES)
        return text

    def read_action(self, action: Action, match: re.Match[str]) -> AskedTask | None:
        """Return what a whole sentence asks for."""
        groups = {name: value.strip(EDGES) for name, value in match.groupdict().items() if value}
        named = groups.get("ref") or groups.get("maybe")
        if named is not None and not self.content_words(named):
            return None
        asked = AskedTask(
            action=action,
            what=groups.get("what", ""),
            ref=named or "",
            is_maybe="maybe" in groups,
            deed=groups.get("deed", ""),
            is_bare="bare" in match.re.groupindex,
            is_newest="newest" in match.re.groupindex,
            is_last="last" in groups
            or (action in {"cancel", "snooze", "change"} and named is None),
        )
        if not {"time", "by"} & set(match.re.groupindex):
            return asked
        named_time = groups.get("time", "")
        words = self.complete_amount(named_time)
        if "by" in groups:
            words = self._bare_times[1].format(amount=groups["by"])
        told = self.read_time(words)
        if told is not None and not told.words and words and action == "change":
            at = self.bare_time(words)
            told = at if at is not None else told
        if action in {"snooze", "change"} and words and (told is None or not told.words):
            return None  # "say that again"
        if words and not self.is_only_time(words):
            return None
        is_sure = bool(words) and "sure" in match.re.groupindex
        return replace(
            asked, told=told, time_words=words, is_sure=is_sure, is_by_amount=words != named_time
        )

    def complete_amount(self, words: str) -> str:
        """Return a bare amount of time with the word that leads it: "in 8 minutes"."""
        known = self.read_time(words)
        led = self._bare_times[1].format(amount=words)
        if not words or (known is not None and known.words) or not self.is_only_time(led):
            return words
        told = self.read_time(led)
        return led if told is not None and told.amount is not None else words

    def bare_time(self, words: str) -> Told | None:
        """Return the time of a bare hour, such as the eleven of "make it 11"."""
        led = self._bare_times[0].format(hour=words)
        told = self.read_time(led)
        return told if told is not None and told.words and self.is_only_time(led) else None

    def read_time(self, text: str) -> Told | None:
        """Return the time that words tell; None if they tell two."""
        return collect(self.book.find(text))

    def read_answer(self, text: str) -> Told | None:
        """Return the time of an answer that says nothing else but "of course"."""
        text = self._affirming.sub(" ", text.strip(EDGES))
        told = self.read_time(text)
        if told is None or not told.words:
            return self.bare_time(text) if text.strip().isdecimal() else None
        return told if self.is_only_time(text) else None

    def is_only_time(self, text: str) -> bool:
        """Whether a text says nothing but a time."""
        words = self.book.find(text)
        if not words:
            return len(text) <= MAX_SHORT_TIME
        rest = remove_words(text, words)
        return not self.drop_glue(rest)

    def drop_glue(self, text: str) -> str:
        """Return a text without the words that only join times or are polite."""
        match = self.book.glue.fullmatch(f"{text} ")
        return "" if match else self._polite.sub(" ", text).strip(EDGES)

    def list_cues(self, text: str) -> list[Cue]:
        """List the words of a text that often ask for a reminder, without what they enclose."""
        simple = to_simplified(text)
        cues: list[Cue] = []
        for kind, pattern in self._triggers:
            for match in pattern.finditer(simple):
                for start, end in list_outer_spans(match):
                    if all(end <= each.start or each.end <= start for each in cues):
                        cues.append(Cue(start=start, end=end, kind=kind))
        return cues

    def read_reminder(self, text: str) -> AskedTask | None:
        """Return the first reminder or to-do of a text that may be an order about the list."""
        return next(iter(self.read_reminders(text, is_order=True)), None)

    def read_reminders(self, text: str, *, is_order: bool = False) -> list[AskedTask]:
        """Return the reminders or the to-do that a text asks for, as the tagger reads them."""
        text = text[:MAX_REQUEST_CHARS]
        return read_with_zones(
            self.book, text, lambda said: self.read_here(said, is_order=is_order)
        )

    def read_here(self, text: str, *, is_order: bool) -> list[AskedTask]:
        """Return the reminders or the to-do of a text in which no zone is named."""
        cues = self.list_cues(text)
        if cues and all(self.is_refused(text, each) or self.is_told(text, each) for each in cues):
            return []
        tagged = tag_message(text, self.book.find(text), cues)
        asked = read_tagged(self.book, tagged, is_order=is_order) if tagged.tokens else []
        if len(asked) > 1:
            asked = [replace(each, what=self.drop_last_joint(each.what)) for each in asked]
        return [self.finish(each, text) for each in asked]

    def drop_last_joint(self, text: str) -> str:
        """Return a text without an "and" at its end, which led to the next one."""
        ends = (each for each in self._joints.finditer(f"{text} ") if each.end() > len(text))
        joint = next(ends, None)
        return text if joint is None else text[: joint.start()]

    def is_refused(self, text: str, cue: Cue) -> bool:
        """Whether a request is only named as what is not wanted: "do not message me"."""
        simple = to_simplified(text)
        before = self._refused_before.search(simple[max(0, cue.start - MAX_REFUSAL) : cue.start])
        return before is not None or self._refused_after.match(simple, cue.end) is not None

    def split_order(self, sentence: str) -> tuple[str, str]:
        """Return a sentence without an order to forget beside its request, and that order."""
        simple = to_simplified(sentence)
        for joint in self._joints.finditer(simple):
            parts = sentence[: joint.start()], sentence[joint.end() :]
            orders = [self._forgets.match(each.strip(EDGES)) is not None for each in parts]
            asks = [bool(self.list_cues(each)) for each in parts]
            if orders != asks and sorted(orders) == sorted(asks) == [False, True]:
                return parts[orders.index(False)], parts[orders.index(True)]
        return sentence, ""

    def is_told(self, text: str, cue: Cue) -> bool:
        """Whether its clause tells of a request ("did you remind me to …") or ends a reminder."""
        simple = to_simplified(text)
        sentence = find_start(_SENTENCE_END, simple, 0, cue.start)
        clause = find_start(_CLAUSE_END, simple, sentence, cue.start)
        after = _CLAUSE_END.search(simple, cue.end)
        end = len(simple) if after is None else after.start()
        order = self.read(simple[clause:end])
        if order is not None and order.action in {"cancel", "done"} and not order.is_maybe:
            return True
        return any(
            self._told.search(simple[sentence : each.end].rstrip()) is not None
            for each in self.list_cues(simple)
            if clause <= each.start < end
        )

    def finish(self, asked: AskedTask, text: str) -> AskedTask:
        """Return a reminder with a text of its own, and with what waking somebody means."""
        what = self.clean(asked.what)
        if self._again.fullmatch(what):
            return replace(asked, action="snooze", what="", is_last=True, is_again=True)
        what = add_negation(what, text, self._negated) if self.drop_glue(what) else ""
        asked = self.refuse(replace(asked, what=what), text)
        if asked.action != "remind" or not self._wakes.search(text):
            return asked
        asked = replace(asked, what=asked.what or self.wake)
        if asked.told is None:
            return asked
        is_verb = self._waking.search(text)
        told = replace(asked.told, wakes_from=1 if is_verb else EARLIEST_ALARM)
        is_hourless = told.day is not None and not (told.clock or told.offset or told.every)
        return replace(asked, told=Told() if is_verb and is_hourless else told)

    def refuse(self, asked: AskedTask, text: str) -> AskedTask:
        """Return a reminder for yesterday or for 25:00 as one whose time must be asked for."""
        told, simple = asked.told or Told(), to_simplified(text)
        if asked.action != "remind" or told.every:
            return asked
        no_clock = None if told.clock else self.book.no_clock.search(simple)
        named = [each for each in self.book.past.finditer(simple) if is_when(each, asked)]
        if told.amount:  # "à 25h" is not in 25 hours; "in 2 hours: Psalm 45:10" is
            is_amount = no_clock and no_clock.start() < told.amount.end <= no_clock.end()
            no_clock, named = (no_clock if is_amount else None), []
        found = no_clock or next(iter(named), None)
        if found is None:
            return asked
        left = self.clean(_SPACES.sub(" ", remove_run(to_simplified(asked.what), found[0])))
        refused: Question = "no_such_hour" if no_clock and not no_clock["minus"] else "past"
        told = replace(told, refused=refused, amount=None)
        return replace(asked, what=left, told=told) if left else asked

    def read_command_reminder(self, text: str) -> AskedTask:
        """Return the reminder of a command, "/remind tomorrow at 9 am to call mum"."""
        lead = f"{self.request} "
        if pronoun := self._object.match(text):  # "/remind me tomorrow"
            text = text[pronoun.end() :]
        asked = self.read_reminders(lead + text[: MAX_REQUEST_CHARS - len(lead)])
        if len(asked) != 1 or asked[0].action != "remind":
            told = None if asked else self.read_time(text)
            if told is None or not told.words:
                return AskedTask(action="remind", what=self.clean(text), told=told and Told())
            what = self.clean(remove_words(text, told.words))
            words = join_words(text, told.words)
            return AskedTask(action="remind", what=what, told=told, time_words=words)
        return asked[0]

    def clean(self, text: str) -> str:
        """Return what to remind of without the words that join it to the request."""
        text = self._filler.sub(" ", text).strip(EDGES)
        if match := self._trailing.search(text):
            text = text[: match.start()].strip(EDGES)
        while match := self._lead.match(text):
            if not match.end():
                break
            text = text[match.end() :].strip(EDGES)
        while match := self._please.search(text) or self._starting.search(text):
            text = text[: match.start()].strip(EDGES)
        return text

    def answer(self, text: str, *, among: Sequence[str] = ANSWERS) -> str | None:
        """Return which of the known answers a short text is, if any."""
        bare = to_simplified(text[:MAX_REQUEST_CHARS]).strip(EDGES)
        return next((name for name in among if self._answers[name].fullmatch(bare)), None)

    def split_answer(self, text: str) -> tuple[str, str, bool] | None:
        """Return the answer that a text begins with, what follows, and whether it stands apart.

        The answer is "no", or the words of a "yes".
        """
        said = to_simplified(text[:MAX_REQUEST_CHARS]).strip(EDGES)
        found = ((name, each.fullmatch(said)) for name, each in self._leading.items())
        name, match = next((pair for pair in found if pair[1] is not None), ("", None))
        if match is None:
            return None
        is_apart = bool(match["mark"].strip() or match["but"])
        answer = "no" if name == "no" else match["said"]
        return answer, match["rest"].strip(EDGES), is_apart

    def content_words(self, text: str) -> str:
        """Return words that name a task, without articles and "the reminder about"."""
        return _SPACES.sub(" ", self._the.sub(" ", to_simplified(text[:MAX_REQUEST_CHARS]))).strip(
            EDGES
        )

    def is_deed_of(self, deed: str, said: str, entry: str) -> bool:
        """Whether a deed is what an entry is about: by its verb, or by all of its words."""
        words = {self.stem_verb(each) for each in tokenize(self.content_words(entry))}
        verbs = {self.stem_verb(each) for each in tokenize(deed)}
        told = {self.stem_verb(each) for each in tokenize(said)}
        is_named = words <= told and (
            len(words) > 1 or words != told or not self._gets.isdisjoint(verbs)
        )  # "I spilled the milk" does not get the milk that is on the list
        return not words.isdisjoint(verbs) or is_named or self.is_got(deed, said, entry)

    def is_told_anew(self, before: str, after: str) -> bool:
        """Whether one text is the other with more words, if any: "call mum about the party"."""
        words = [set(tokenize(self.content_words(each))) for each in (before, after)]
        return all(words) and words[0] <= words[1]

    def is_got(self, deed: str, said: str, entry: str) -> bool:
        """Whether words tell that one got some things of an entry that only lists things."""
        if self._gets.isdisjoint(map(self.stem_verb, tokenize(deed))):
            return False  # "I spilled the milk"
        items, got = self.list_items(entry), self.list_items(said)
        is_list = len(items) > 1 and all(
            " " not in item if self._is_spaced else len(item) <= MAX_ITEM_CHARS for item in items
        )
        named = [frozenset(tokenize(each)) for each in items]
        return is_list and bool(got) and all(frozenset(tokenize(each)) in named for each in got)

    def list_items(self, text: str) -> list[str]:
        """List the things that a text joins by "and"."""
        items = (self.content_words(each) for each in self._joints.split(text))
        return [each for each in items if each]

    def stem_verb(self, word: str) -> str:
        """Return what the forms of a verb share."""
        infinitives, marks = self._verb_forms
        word = infinitives.get(word, word)
        for mark, put in marks:
            word = mark.sub(put, word)
        return stem_word(word, self.language)

    @cached_property
    def _gets(self) -> frozenset[str]:
        """What the verbs for getting a thing share in their forms: "bought", "picked"."""
        return frozenset(self.stem_verb(each) for each in self._getting.split())

    @cached_property
    def _verb_forms(self) -> tuple[dict[str, str], list[tuple[re.Pattern[str], str]]]:
        """The forms of verbs that have another stem, and what others have beside their stem."""
        rules = load_language_pack(self.language).read("rules")
        marks = rules["reading"]["verb_marks"]
        return rules["infinitives"], [(self._compile(mark), put) for mark, put in marks]

    def split_part(self, text: str, said: str, *, is_all: bool = False) -> tuple[str, str] | None:
        """Return which of several things that a text names are said, and the text without them.

        "buy milk and bread" without the milk is "buy bread". If ``is_all``, all the words of a
        thing must be said: without the dinner, of "dinner with Tom and Anna" nothing is left.
        """
        joints = [each.span() for each in self._joints.finditer(text)]
        starts, ends = [0, *(end for _, end in joints)], [*(at for at, _ in joints), len(text)]
        items = [text[one:other] for one, other in zip(starts, ends, strict=True)]
        words = set(tokenize(self.content_words(said)))
        is_said = [not words.isdisjoint(tokenize(each)) for each in items]
        if is_all and len(items) > 1:
            heads = [self.find_head(items[0], words, items[1]), *("" for _ in items[1:])]
            named = [each.removeprefix(head) for each, head in zip(items, heads, strict=True)]
            is_said = [words >= {*tokenize(self.content_words(each))} for each in named]
        if all(is_said) or not any(is_said):
            return None
        left = [each for each, said_too in zip(items, is_said, strict=True) if not said_too]
        part = [each for each, said_too in zip(items, is_said, strict=True) if said_too]
        if is_said[0] and (head := self.find_head(items[0], words, left[0])):
            part[0] = items[0].replace(head, "", 1).strip(EDGES)
            left[0] = f"{head}{' ' * self._is_spaced}{left[0]}"
        return self.join(part, text, joints), self.join(left, text, joints)

    def read_without(self, text: str) -> str:
        """Return what a whole text takes out of what was just put on the list, "no rice"."""
        match = self._without.fullmatch(to_simplified(text[:MAX_REQUEST_CHARS]).strip(EDGES))
        return match["ref"].strip(EDGES) if match else ""

    def find_head(self, item: str, words: set[str], following: str) -> str:
        """Return what a thing that is done begins with, if it also belongs to the next one."""
        if words >= {*tokenize(item)}:
            return ""  # all of it was named
        if self._is_spaced:
            head, _, rest = item.partition(" ")
            is_shared = bool(rest) and " " not in following.strip()
            return head if is_shared and words.isdisjoint(tokenize(head)) else ""
        is_shared = words.isdisjoint(tokenize(following)) and item[:1] != following[:1]
        return item[:1] if is_shared and len(item) > len(following) else ""

    def join(self, items: Sequence[str], text: str, joints: Sequence[tuple[int, int]]) -> str:
        """Join things as a text joins its last two."""
        start, end = joints[-1]
        first = text[joints[0][0] : joints[0][1]]
        head = first.join(items[:-1])
        return f"{head}{text[start:end]}{items[-1]}" if head else items[-1]


MAX_SHORT_TIME: Final = 12
MAX_REFUSAL: Final = 30
"""Signs before a request in which it is refused."""


def list_outer_spans(match: re.Match[str]) -> list[tuple[int, int]]:
    """Return where the words of a request stand, without what it has in its middle."""
    start, end = match.span()
    if not match.groupdict().get("mid"):
        return [(start, end)] if end > start else []
    first, last = match.span("mid")
    return [(one, other) for one, other in ((start, first), (last, end)) if other > one]


@cache
def load_task_phrases(language: str) -> TaskPhrases:
    """Load the ways of a language to ask for reminders; English where it has none."""
    return TaskPhrases(choose_language_with("tasks", language))
