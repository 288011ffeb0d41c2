"""Belief sentences: beliefs as sentences to the person whom they are about.

A belief about the person is stored without a subject ("Lives in Porto."). It gets one here, by the
pack of its language, only where its text begins with a verb that the pack lists; any other text,
and one whose other verbs may have another subject, stays as it is.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

from oldfriend.domain.belief_kinds import ATTRIBUTE_KINDS, FUTURE_KINDS
from oldfriend.domain.memories import Evidence, StoredBelief
from oldfriend.domain.relations import RELATION_KEY
from oldfriend.lang.glossing import is_common_word
from oldfriend.lang.language_pack import LANGUAGES, get_traits, load_language_pack
from oldfriend.memory.reflection_log import is_question
from oldfriend.turn.belief_wording import load_wording, quote_own_words, word_belief

SUBJECTLESS_KINDS: Final = ATTRIBUTE_KINDS | {"pattern", "commitment"}
"""Kinds whose text tells of nobody but the subject, also where no verb shows that."""
_COLON: Final = re.compile("[:\uff1a]")
TEMPLATES: Final = (
    "relation",
    "relation_over",
    "label",
    "said",
    "unsure",
    "disputed",
    "wondered",
    "inverted",
)
NEAR_VERB: Final = 3
"""Words from the beginning, with the verb, among which a pronoun may belong to it."""
_STOPS: Final = ".。!！"
_ENDS: Final = ".,;:!?"
_MARKS: Final = '.,;:!?…()"“”„«»'
_QUOTED: Final = re.compile(r"[^“„«\n]{0,80}?\s?[:：]\s?[“„«](?P<words>[^“„«\n]{1,2000})[”“»]")
"""A label and a quote, and nothing else."""
_UNDOUBTED: Final = ("?", "？", "”", "“", "»")
"""Ends of texts that claim nothing but that something was asked or said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grammar:
    """How a language addresses somebody."""

    templates: dict[str, str]
    subjects: dict[str, str]
    forms: dict[str, dict[str, str]]
    before: dict[str, dict[str, str]]  # words before a verb, or elided parts of it
    endings: Sequence[tuple[str, str]]
    adverbs: frozenset[str]
    alike: frozenset[str]
    verbs: frozenset[str]  # in the third person; in a language without forms, how they begin
    ambiguous: frozenset[str]  # those among them that read like nouns behind another word
    verb_endings: tuple[str, ...]
    past: frozenset[str]  # in languages whose past has one form for all persons
    indirect: frozenset[str]  # words that make the person the object of a verb
    joints: frozenset[str]
    relatives: frozenset[str]  # words behind which a verb may have another subject
    behind_verbs: frozenset[str]
    blockers: frozenset[str]  # words that would tell of somebody else behind another subject
    askers: dict[str, frozenset[str]]  # question words that may be the subject but for these verbs
    has_capital_nouns: bool

    def conjugate(self, word: str, subject: str) -> str | None:
        """Return the form of a verb for a subject; None if it is not known to be a verb."""
        folded = word.lower().replace("’", "'")
        if folded in self.forms.get(subject, ()):
            return self.forms[subject][folded]
        if folded in self.alike or folded in self.past:
            return folded
        is_verb = folded in self.verbs or folded.endswith(self.verb_endings)
        return self.reshape(folded) if is_verb else None

    def reshape(self, word: str) -> str | None:
        """Return the form that a word in the third person would have; None if it is not in it."""
        ending, other = next((each for each in self.endings if word.endswith(each[0])), ("", "-"))
        return None if other == "-" else word.removesuffix(ending) + other

    def is_auxiliary(self, word: str) -> bool:
        """Tell whether a word is a verb that nothing but its subject stands before."""
        return word.lower() in self.alike or word.lower() in self.forms["person"]


@lru_cache(maxsize=8)
def _load_grammar(language: str) -> _Grammar | None:
    """Load how a language addresses somebody; None if nothing is known of that."""
    pack = load_language_pack(language)
    if not pack.has("address"):
        return None
    told: dict[str, Any] = pack.read("address")
    names = (
        "adverbs",
        "alike",
        "verbs",
        "ambiguous",
        "indirect",
        "joints",
        "relatives",
        "behind_verbs",
        "blockers",
    )
    words = {name: frozenset(str(told.get(name, "")).split()) for name in names}
    grammar = _Grammar(
        templates={name: told[name] for name in TEMPLATES if name in told},
        subjects=told["subjects"],
        forms=told.get("forms", {}),
        endings=[(ending, other) for ending, other in told.get("endings", ())],
        before=told.get("before", {}),
        verb_endings=tuple(told.get("verb_endings", "").split()),
        past=frozenset(),
        askers={asker: frozenset(each.split()) for asker, each in told.get("askers", {}).items()},
        has_capital_nouns=told.get("has_capital_nouns", False),
        **words,
    )
    past = set(str(told.get("past", "")).split())
    if "past_endings" in told:
        bases = [form for verb in grammar.verbs if (form := grammar.reshape(verb))]
        past |= {_build_past(base, told["past_endings"]) for base in bases}
    return replace(grammar, past=frozenset(past - set(told.get("participles", "").split())))


def _build_past(base: str, endings: Sequence[Sequence[str]]) -> str:
    """Build the regular past of a verb."""
    ending, past = next(each for each in endings if base.endswith(each[0]))
    return base.removesuffix(ending) + past


TERMINAL_LANGUAGE: Final = LANGUAGES[0]
"""The language of everything that the terminal prints."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefSentence:
    """A belief as a sentence, and the language it is in."""

    text: str
    language: str


def tell_belief(
    belief: StoredBelief,
    evidence: Sequence[Evidence] = (),
    *,
    language: str = "",
    zone: str = "",
) -> BeliefSentence:
    """Tell the person a belief in a language; what cannot be told in it, in quotation marks.

    Without a language, or in one without such words, it is told in its own. ``evidence`` tells
    names from verbs.
    """
    spoken = language or belief.language
    grammar = _load_grammar(spoken)
    if load_wording(spoken) is None or grammar is None or spoken == belief.language:
        return _tell_in_own_language(belief, evidence)
    worded = word_belief(belief, spoken)
    if worded is not None:
        return BeliefSentence(text=_tell_openly(worded, belief, grammar), language=spoken)
    own = _tell_in_own_language(replace(belief, status="active"), evidence).text
    quoted = _find_quoted(belief, evidence)
    if quoted is not None and belief.due_at is None:
        return BeliefSentence(text=grammar.templates["said"].format(words=quoted), language=spoken)
    is_own = belief.kind != "event" or quoted is not None  # an event's text is the companion's
    told_zone = zone or belief.zone or "UTC"
    text = quote_own_words(belief, quoted or own, spoken, told_zone, is_own=is_own)
    is_open = belief.ended_at is None
    text = _tell_doubt(text, belief.status, grammar) if is_open else text
    return BeliefSentence(text=text, language=belief.language)


def tell_in_terminal(belief: StoredBelief) -> str:
    """Return a belief's text; one in another language, as a sentence in the terminal's."""
    if belief.language == TERMINAL_LANGUAGE:
        return belief.text
    return tell_belief(belief, language=TERMINAL_LANGUAGE).text


def _tell_in_own_language(belief: StoredBelief, evidence: Sequence[Evidence]) -> BeliefSentence:
    """Tell the person a belief in the language of its text."""
    grammar = _load_grammar(belief.language)
    if grammar is None:
        return BeliefSentence(text=belief.text, language=belief.language)
    text = (
        _tell_question(belief, grammar, evidence)
        or _tell_relation(belief, grammar)
        or _tell_label(belief, grammar)
        or _tell_quote(belief, grammar, evidence)
        or _tell_predicate(belief, grammar, evidence)
        or belief.text
    )
    return BeliefSentence(text=_tell_openly(text, belief, grammar), language=belief.language)


def _tell_openly(text: str, belief: StoredBelief, grammar: _Grammar) -> str:
    """Say of a sentence about what is still so that it is not certain, if it is not."""
    is_open = belief.ended_at is None and not text.endswith(_UNDOUBTED)
    return _tell_doubt(text, belief.status, grammar) if is_open else text


def _tell_doubt(text: str, status: str, grammar: _Grammar) -> str:
    """Say of a sentence that it is not certain, if it is not."""
    name = {"tentative": "unsure", "disputed": "disputed"}.get(status)
    return text if name is None else grammar.templates[name].format(text=text.rstrip(_STOPS))


def _tell_question(
    belief: StoredBelief, grammar: _Grammar, evidence: Sequence[Evidence]
) -> str | None:
    """Say of a question that the companion wonders, and ask it of the person where that is sure."""
    if not is_question(belief) or "wondered" not in grammar.templates:
        return None
    names = _list_own_names(evidence)
    asked = (_address_question(belief.text, name, belief.language, grammar) for name in names)
    text = next((each for each in asked if each is not None), belief.text)
    lead = _COLON.split(grammar.templates["wondered"])[0].strip()
    is_said = text.lower().startswith(lead.lower())
    return text if is_said else grammar.templates["wondered"].format(text=text)


def _address_question(text: str, name: str, language: str, grammar: _Grammar) -> str | None:
    """Put a question about the person named so to them; None if more may have to change."""
    words = text.split()
    places = [place for place, word in enumerate(words) if word.strip(_MARKS) == name]
    subject = grammar.subjects["person"]
    if text.count(name) != 1 or any(_list_blockers(words, grammar)):
        return None
    if not grammar.forms:
        is_name = _ends_name(text.partition(name)[2], grammar)
        return text.replace(name, subject) if is_name else None
    if not places or _may_be_named_on(words, places[0], language, grammar):
        return None
    place = places[0]
    before, behind, mark = words[:place], words[place + 1 :], words[place].partition(name)[2]
    if before and "inverted" in grammar.templates and grammar.is_auxiliary(before[-1]):
        may_be_other = _may_have_subject(before[:-1], before[-1], grammar)
        verb = grammar.conjugate(before[-1], "person") or before[-1]
        verb = verb.capitalize() if before[-1][0].isupper() else verb
        told = [*before[:-1], grammar.templates["inverted"].format(verb=verb) + mark, *behind]
        return None if may_be_other else " ".join(told)
    form = grammar.conjugate(behind[0].rstrip(_ENDS), "person") if behind and not mark else None
    if form is None or not before or not grammar.joints.isdisjoint(behind):
        return None
    verb = behind[0].rstrip(_ENDS)
    told = [*before, subject.lower(), form + behind[0][len(verb) :], *behind[1:]]
    return None if _may_have_subject(before[-1:], verb, grammar) else " ".join(filter(None, told))


def _may_be_named_on(words: Sequence[str], place: int, language: str, grammar: _Grammar) -> bool:
    """Tell whether the word behind a name may belong to it ("Weber"), or join another to it."""
    if place + 1 == len(words) or words[place].endswith(tuple(_ENDS)):
        return False
    word = words[place + 1].strip(_MARKS)
    is_noun = grammar.has_capital_nouns and is_common_word(word, language)
    return word.lower() in grammar.joints or (word[:1].isupper() and not is_noun)


def _may_have_subject(words: Sequence[str], verb: str, grammar: _Grammar) -> bool:
    """Tell whether one of the words before asks for the subject of a verb."""
    folded = [word.strip(_MARKS).lower().replace("’", "'") for word in words]
    return any(verb.lower() not in grammar.askers.get(word, {verb.lower()}) for word in folded)


def _ends_name(rest: str, grammar: _Grammar) -> bool:
    """Tell whether a name ends before the rest of a text: 李 is only the beginning of 李明."""
    return rest[:1] == " " or (not grammar.forms and rest.startswith(tuple(grammar.verbs)))


def _list_own_names(evidence: Sequence[Evidence]) -> list[str]:
    """List the names under which the person spoke."""
    return sorted({each.speaker for each in evidence if each.role == "person" and each.speaker})


def _tell_relation(belief: StoredBelief, grammar: _Grammar) -> str | None:
    """Say what somebody is to the person, where that is what the belief holds."""
    name, _, key = belief.key.rpartition(":")
    is_relation = belief.kind == "fact" and belief.subject == "other" and key == RELATION_KEY
    if not is_relation or not name or not belief.value:
        return None
    if "relation" not in grammar.templates:
        return word_belief(belief, belief.language)
    *over, role, told = ("", *(each.strip(f" {_STOPS}") for each in _COLON.split(belief.text)))[-3:]
    if told != name:  # the value is in English, whatever the text is in
        is_in_words = belief.value.casefold() in belief.text.casefold()
        over, role = [], belief.value if is_in_words else ""
    if not role:
        return None
    role = role[0].lower() + role[1:] if role[1:2].islower() else role
    template = "relation_over" if any(over) else "relation"
    return grammar.templates[template].format(name=name, role=role)


def _tell_label(belief: StoredBelief, grammar: _Grammar) -> str | None:
    """Say whose value it is that the text only labels: "Favourite band: Blur."."""
    label, colon, value = belief.text.partition(":")
    label = label.strip()
    is_labelled = colon and belief.value and value.strip(f" {_STOPS}") == belief.value
    is_known = belief.subject == "person" and "label" in grammar.templates
    if not label or not is_labelled or not is_known or _begins_with_verb(label, grammar):
        return None
    if label[1:2].islower():
        label = label[0].lower() + label[1:]
    return grammar.templates["label"].format(label=label, value=belief.value)


def _begins_with_verb(text: str, grammar: _Grammar) -> bool:
    """Tell whether a text begins with a verb, perhaps behind an adverb."""
    words = text.split()
    place = _skip_adverbs(words, 0, grammar)
    return place < len(words) and grammar.conjugate(words[place], "person") is not None


def _tell_quote(
    belief: StoredBelief, grammar: _Grammar, evidence: Sequence[Evidence]
) -> str | None:
    """Say that they said it, where the belief holds nothing but words of theirs."""
    words = _find_quoted(belief, evidence)
    return None if words is None else grammar.templates["said"].format(words=words)


def _find_quoted(belief: StoredBelief, evidence: Sequence[Evidence]) -> str | None:
    """Find the person's words where a belief holds nothing else."""
    found = _QUOTED.fullmatch(belief.text)
    if belief.subject != "person" or found is None:
        return None
    words = found["words"].strip()
    is_own = belief.is_quoted_fact or any(words.strip(_STOPS) in each.quote for each in evidence)
    is_all = belief.is_plain_quote or belief.kind in FUTURE_KINDS
    return words if is_own and is_all else None


def _tell_predicate(
    belief: StoredBelief, grammar: _Grammar, evidence: Sequence[Evidence]
) -> str | None:
    """Give a text without a subject, or with the person's name for one, the one it is about."""
    subject = grammar.subjects.get(belief.subject)
    text = _strip_own_name(belief, evidence, grammar)
    may_have_another = text is None and belief.kind not in SUBJECTLESS_KINDS
    if subject is None or (may_have_another and not grammar.past):
        return None
    if not grammar.forms:
        is_predicate = text is not None or belief.text.startswith(tuple(grammar.verbs))
        return subject + (text or belief.text) if is_predicate else None
    text = text or belief.text
    words = text.replace("'", "’").split() if grammar.before else text.split()
    told = _conjugate_first(words, belief.subject, grammar, evidence)
    if told is None or _may_name_them_otherwise(told, belief, grammar, evidence):
        return None
    text = " ".join((subject, *told)).strip()
    return text[0].upper() + text[1:]


def _strip_own_name(
    belief: StoredBelief, evidence: Sequence[Evidence], grammar: _Grammar
) -> str | None:
    """Return what a text tells of the person whose name it begins with; None if it does not.

    A name that is a word, too ("May is a hard month"), may be none there.
    """
    if belief.subject != "person":
        return None
    for name in _list_own_names(evidence):
        rest = belief.text.removeprefix(name)
        is_name = rest != belief.text and _ends_name(rest, grammar)
        is_name = is_name and name.lower() not in get_traits(belief.language).stop_words
        if is_name and name not in rest and len(rest.strip()) > 1:
            rest = rest.strip()
            return rest[0].upper() + rest[1:]
    return None


def _may_name_them_otherwise(
    told: Sequence[str], belief: StoredBelief, grammar: _Grammar, evidence: Sequence[Evidence]
) -> bool:
    """Tell whether a pronoun may mean the person, who has a subject of their own now.

    Whom they call so in their own words, as often, is somebody else; but near the verb it may be
    reflexive.
    """
    others: Counter[str] = Counter()
    if belief.subject == "person":
        own = [each.quote.split() for each in evidence if each.role == "person"]
        others.update(each for words in own for each in _list_blockers(words, grammar))
    is_near = any(_list_blockers(told[:NEAR_VERB], grammar))
    return is_near or bool(Counter(_list_blockers(told, grammar)) - others)


def _list_blockers(words: Sequence[str], grammar: _Grammar) -> Iterator[str]:
    """List those of some words that would tell of somebody else, or their elided parts."""
    for each in (word.lower().replace("'", "’") for word in words):
        elided, apostrophe, _ = (word := each.strip(_MARKS)).partition("’")
        if word in grammar.blockers:
            yield word
        elif elided + apostrophe in grammar.blockers:
            yield elided + apostrophe


def _conjugate_first(
    words: Sequence[str], subject: str, grammar: _Grammar, evidence: Sequence[Evidence]
) -> list[str] | None:
    """Conjugate the verb that a text begins with, and those joined to it; None: it has another
    subject."""
    whole = words
    before, words = _take_words_before(words, subject, grammar)
    if not words or _is_name(words[0], evidence, is_first=not before):
        return None
    elided = next(
        (each for each in grammar.before.get(subject, ()) if words[0].lower().startswith(each)), ""
    )
    elided = elided if elided.endswith("’") else ""
    verb = words[0][len(elided) :].rstrip(_ENDS)
    form = grammar.conjugate(verb, subject)
    joined = _conjugate_joined(words, subject, grammar)
    if form is None or joined is None or _has_another_subject(whole, len(before), grammar):
        return None
    form = grammar.before.get(subject, {}).get(elided, "") + form + words[0][len(elided + verb) :]
    return [*before, form, *joined]


def _has_another_subject(words: Sequence[str], place: int, grammar: _Grammar) -> bool:
    """Tell whether the word there is no verb, or not one whose subject the person is."""
    is_object = not grammar.indirect.isdisjoint(each.lower() for each in words[:place])
    if grammar.indirect and is_object != (words[place].lower() in grammar.alike):
        return True
    following = words[place + 1].lower() if len(words) > place + 1 else ""
    if grammar.is_auxiliary(words[place]):
        return following in grammar.forms["person"] and words[place].lower() in grammar.alike
    return grammar.is_auxiliary(following)


def _take_words_before(
    words: Sequence[str], subject: str, grammar: _Grammar
) -> tuple[list[str], Sequence[str]]:
    """Split off the adverbs and the like before a verb, as they read for the subject."""
    replaced = grammar.before.get(subject, {})
    place = 0
    while place < len(words) and words[place].lower() in grammar.adverbs | replaced.keys():
        place += 1
    before = [each.lower() if at == 0 else each for at, each in enumerate(words[:place])]
    return [replaced.get(each, each) for each in before], words[place:]


def _conjugate_joined(words: Sequence[str], subject: str, grammar: _Grammar) -> list[str] | None:
    """Conjugate the verbs that have the same subject as the first word, behind an "and".

    None: it is not sure which verbs these are.
    """
    told = list(words)
    is_nested = False
    for place, word in enumerate(words[1:], start=1):
        is_joint = word.lower() in grammar.joints
        is_behind_mark = words[place - 1].endswith(tuple(_ENDS))
        is_nested |= word.strip(_ENDS).lower() in grammar.relatives
        is_nested |= is_behind_mark and not is_joint
        if not is_joint and not is_behind_mark:
            continue
        verb = _skip_adverbs(words, place + 1, grammar) if is_joint else place
        if verb >= len(words):
            continue
        core = words[verb].rstrip(_ENDS)
        form = grammar.conjugate(core, subject)
        if form is None:
            if is_joint and _may_be_verb(words, verb, grammar):
                return None
        elif form != core.lower():
            is_doubtful = core.lower() in grammar.ambiguous and 1 < place == verb - 1
            if is_nested or is_doubtful:
                return None
            told[verb] = form + words[verb][len(core) :]
    return told[1:]


def _may_be_verb(words: Sequence[str], place: int, grammar: _Grammar) -> bool:
    """Tell whether an unknown word with another behind it has the form of a verb."""
    word = words[place]
    is_lower = word.isalpha() and word.islower() and word not in grammar.behind_verbs
    return is_lower and place + 1 < len(words) and grammar.reshape(word) not in (None, word)


def _skip_adverbs(words: Sequence[str], place: int, grammar: _Grammar) -> int:
    """Return where the first word stands from a place on that is no adverb."""
    while place < len(words) and words[place].lower() in grammar.adverbs:
        place += 1
    return place


def _is_name(word: str, evidence: Sequence[Evidence], *, is_first: bool) -> bool:
    """Tell whether a word is a name: the words of the person write it with a capital, too."""
    if not is_first:
        return word[:1].isupper()
    said: Collection[str] = {
        each.strip(".,;:!?’'\"") for one in evidence for each in one.quote.split()[1:]
    }
    return word.removesuffix("'s").removesuffix("’s") in said
