"""Belief wording: beliefs told in any language with templates, from their keys and values.

A value is kept as it was said; only dates, numbers and values that mean one thing everywhere
("vegan", "married") are told in the reader's way. What has no template is not worded.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from oldfriend.domain.belief_kinds import ATTRIBUTE_KINDS, FUTURE_KINDS
from oldfriend.domain.belief_times import get_told_zone, is_whole_day, name_other_zone
from oldfriend.domain.clock import Micros
from oldfriend.domain.memories import QUOTE_KEY, StoredBelief
from oldfriend.domain.relations import CONVERSE, RELATION_BY_ROLE, RELATION_KEY
from oldfriend.lang.language_pack import get_traits, list_languages, load_language_pack
from oldfriend.prompts.locale_phrases import LocalePhrases, load_phrases
from oldfriend.search.synonyms import get_role_phrases, get_role_words
from oldfriend.turn.quotes import format_day, format_moment

_KEYS: Final[Mapping[str, str]] = {
    "full_name": "name",
    "nickname": "preferred_name",
    "home": "location",
    "residence": "location",
    "lives_in": "location",
    "origin": "birthplace",
    "comes_from": "birthplace",
    "date_of_birth": "birth_date",
    "job": "occupation",
    "profession": "occupation",
    "work": "occupation",
    "employer": "workplace",
    "works_at": "workplace",
    "studies_at": "school",
    "university": "school",
    **dict.fromkeys(("spouse", "wife", "husband", "boyfriend", "girlfriend"), "partner"),
    "marital_status": "relationship_status",
    "pet": "pets",
    "language": "languages",
    "allergy": "allergies",
    "diet": "dietary",
    **dict.fromkeys(("hobby", "hobbies", "likes", "prefers"), "interests"),
    "conditions": "health",
    "home_timezone": "timezone",
}
"""Keys and relations that are told as another key is."""
_NAME_KEYS: Final = frozenset(
    {
        "name",
        "preferred_name",
        "location",
        "birthplace",
        "hometown",
        "workplace",
        "school",
        "partner",
        "visited",
        "plans_for",
        "member_of",
        "timezone",
        "nationality",
    }
)
"""Keys whose sentences only fit a name."""
_LANGUAGE_KEYS: Final = frozenset({"languages", "native_language", "learning"})
_DAYS: Final = frozenset({"birthday", "birth_date", "full_birth_date"})
_YEARS_OF_AGE: Final = re.compile(r"(\d{1,3})(?!\d)(\D*)")
"""A number, and the words behind it."""
_ISO_DAY: Final = re.compile(r"(?:(\d{4})-|--)?(\d{1,2})-(\d{1,2})")
_DAY: Final = re.compile(r"(?<!\d)(\d{1,2})(?!\d)")
_YEAR: Final = re.compile(r"(?<!\d)\d{4}(?!\d)")
_HAN_DAY: Final = re.compile(r"(?:(\d{4})年)?(\d{1,2})月(\d{1,2})[日号]?")
_EDGES: Final = " .。!！?？"
_INNER_MARKS: Final = re.compile(r"[,;:，；：、.。!?！？()（）]")
MONTHS: Final = 12
MONTH_DAYS: Final = 31


@dataclass(frozen=True, slots=True, kw_only=True)
class _Statement:
    """A value under a key, of the person or of somebody with a name."""

    name: str  # whose it is; "" is the person
    key: str
    value: str
    said_in: str  # the language of the value
    is_over: bool  # the value is so no more

    @property
    def side(self) -> str:
        """The templates by which it is told."""
        return "other" if self.name else "you"


def word_belief(memory: StoredBelief, language: str) -> str | None:
    """Tell the person a belief in a language, from its key and value; None without a template."""
    told, stated = load_wording(language), _read_statement(memory, language)
    if told is None:
        return None
    text = _word_role(memory, told)
    if text is None and stated is not None:
        text = _word_closed_value(stated, told) or _word_value(stated, told)
    if text is None:
        return None
    text = _capitalize(text)
    if stated is not None and stated.is_over:
        return str(told["over"]).format(text=text)
    return text


def quote_own_words(
    memory: StoredBelief, words: str, language: str, zone: str, *, is_own: bool = True
) -> str:
    """Quote the words of a belief that no template fits, behind its time in a language.

    Words that are not the person's stand without quotation marks.
    """
    told = load_wording(language)
    if told is None:
        return words
    book, words = load_phrases(language), strip_due(memory, words, zone)
    quoted = str(told["own_words"]).format(words=words) if is_own else words
    if memory.kind in FUTURE_KINDS and memory.due_at is not None:
        part = "promised" if memory.kind == "commitment" else "coming"
        when = format_due(book, memory, memory.due_at, zone)
        return str(told[part]).format(when=when, words=quoted)
    if memory.happened_during is not None:
        when = format_day(
            book, memory.happened_during[0], get_told_zone(memory, zone), memory.grain
        )
        return str(told["happened"]).format(when=when, words=quoted)
    return quoted


def strip_due(memory: StoredBelief, text: str, zone: str) -> str:
    """Return a text without the due time as its own language writes it."""
    if memory.due_at is None or memory.language not in list_languages("phrases"):
        return text
    due = re.escape(format_due(load_phrases(memory.language), memory, memory.due_at, zone))
    return re.sub(rf"\s?(?:[(（]{due}[)）]|[:：] ?{due}(?=\W*$))", "", text)


def format_due(book: LocalePhrases, memory: StoredBelief, due: Micros, zone: str) -> str:
    """Format a due time as it was said: a month, a day, or a clock time and where it is so late."""
    told_zone = get_told_zone(memory, zone)
    if memory.grain or is_whole_day(due, told_zone):
        return format_day(book, due, told_zone, memory.grain)
    return f"{format_moment(book, due, told_zone)} {name_other_zone(memory, zone)}".rstrip()


@cache
def load_wording(language: str) -> Mapping[str, Any] | None:
    """Load the templates of a language; None if it has none."""
    pack = load_language_pack(language)
    return {**pack.read("wording"), "language": language} if pack.has("wording") else None


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


def _read_statement(memory: StoredBelief, language: str) -> _Statement | None:
    """Read whose a value is and under which key; None if there is none, or it is nobody's."""
    owner, _, key = memory.key.rpartition(":")
    is_attribute = memory.kind in ATTRIBUTE_KINDS and memory.key != QUOTE_KEY
    is_own = memory.subject == "person" and not owner
    is_told = is_own if memory.kind == "triple" else is_attribute and (is_own or bool(owner))
    if not is_told or not memory.value:
        return None
    key, value = _KEYS.get(key, key), memory.value.strip(_EDGES)
    is_closed = (key, value.casefold()) in _load_said_values(memory.language)
    now = value if is_closed else _strip_over(value, memory.language)
    is_over, value = now != value, now.strip(_EDGES)
    if not value:
        return None
    if key in _DAYS:
        key = _find_day_key(value, memory.language)
    return _Statement(
        name=_name_owner(owner, memory.language, language) if owner else "",
        key=key,
        value=value,
        said_in=memory.language,
        is_over=is_over,
    )


def _strip_over(value: str, language: str) -> str:
    """Return a value without the words that say that it is so no more."""
    told = load_wording(language)
    before = str(told["over_value"]).partition("{value}")[0] if told else ""
    is_over = bool(before) and f"{value.lower()} ".startswith(before)
    now = value[len(before) :] if is_over else value
    return (
        value if is_over and now.lower().startswith(tuple(_list_words(language, "more"))) else now
    )


def _find_day_key(value: str, language: str) -> str:
    """Return under which key a day is told: of birth, with its year, or of each year."""
    said = _read_day(value, language)
    if said is not None and said[0] is not None:
        return "full_birth_date"
    return "birth_date" if _YEAR.fullmatch(value) else "birthday"


def _name_owner(owner: str, said_in: str, language: str) -> str:
    """Name whom a key belongs to; by what they are to the person, where their role is the name."""
    bare = _strip_leading(owner, said_in, "leading", "articles")
    role = get_role_words(said_in).get(bare.lower(), bare)
    return get_role_phrases(language).get(role, owner)


def _word_role(memory: StoredBelief, told: Mapping[str, Any]) -> str | None:
    """Say what somebody is to the person; None if that is not what the belief holds."""
    name, _, key = memory.key.rpartition(":")
    if memory.kind == "triple":
        # A tie tells what the person is to the other.
        converse = next((other for tie, other in CONVERSE.items() if tie == memory.key), None)
        of_the_other = converse or memory.key
        template = told["roles"].get(of_the_other) if memory.subject == "person" else None
        return str(template).format(name=memory.value) if template else None
    if memory.kind != "fact" or key != RELATION_KEY or not name:
        return None
    role = memory.value
    phrase = get_role_phrases(told["language"]).get(role)
    if phrase is not None and role not in told["roles"]:
        return str(told["is"]).format(name=name, phrase=phrase)
    template = told["roles"].get(role) or told["roles"].get(RELATION_BY_ROLE.get(role, ""))
    return str(template).format(name=name) if template else None


def _word_closed_value(stated: _Statement, told: Mapping[str, Any]) -> str | None:
    """Tell a value that means one thing in all languages."""
    meaning = _load_said_values(stated.said_in).get((stated.key, stated.value.casefold()))
    pair = told["values"].get(stated.key, {}).get(meaning)
    return str(pair[stated.side == "other"]).format(name=stated.name) if pair else None


@cache
def _load_said_values(language: str) -> Mapping[tuple[str, str], str]:
    """Load how a language says the values that mean one thing, each with its meaning."""
    told = load_wording(language)
    return {
        (key, form.strip().casefold()): meaning
        for key, forms in (told["said"] if told else {}).items()
        for meaning, said in forms.items()
        for form in said.split(";")
    }


def _word_value(stated: _Statement, told: Mapping[str, Any]) -> str | None:
    """Tell a value under a key in a sentence; behind a label, where the sentence needs a name."""
    value = _format_value(stated, told)
    if value is not None and (template := told[stated.side].get(stated.key)):
        return _fill(str(template), value, stated, told)
    label = told[f"{stated.side}_label"].get(stated.key)
    if label is None:
        return None
    told_label = _fill(str(label), "", stated, told)
    words = value or str(told["own_words"]).format(words=stated.value)
    return str(told["labelled"]).format(label=told_label, words=words)


def _fill(template: str, value: str, stated: _Statement, told: Mapping[str, Any]) -> str:
    """Fill a template, whose words before a name fit one that begins with a vowel."""
    for place, filled in (("{value}", value), ("{name}", stated.name)):
        if filled[:1] and filled[0].lower() in told["vowels"]:
            for word, elided in told["elided"]:
                template = template.replace(f"{word}{place}", f"{elided}{place}")
    text = template.format(name=stated.name, value=value)
    for words, contracted in told["contracted"]:
        text = text.replace(words, contracted)
    return text


def _format_value(stated: _Statement, told: Mapping[str, Any]) -> str | None:
    """Return a value as it stands in a sentence; None where it is no name, and only that fits.

    What is no name is quoted, for it is in the words in which it was said.
    """
    value, said_in = stated.value, stated.said_in
    if stated.key in _DAYS:
        return _format_day_value(value, said_in, told)
    if stated.key == "age":
        return _format_age(value, said_in)
    if stated.key in _LANGUAGE_KEYS and (code := _load_language_names(said_in).get(value.lower())):
        return str(told["languages"].get(code, value))
    if stated.key in _NAME_KEYS:
        bare = _strip_leading(value, said_in)
        articles = _list_words(said_in, "articles")
        has_article = not {bare.split()[0].lower(), value.split()[0].lower()}.isdisjoint(articles)
        return bare if _may_be_name(bare) and not has_article else None
    is_name = _may_be_name(value) and get_traits(said_in).name_capitals != "nouns"
    is_name = is_name and value[0].isupper() and said_in != told["language"]
    is_own = said_in == told["language"]
    return value if is_name or is_own else str(told["own_words"]).format(words=value)


def _format_age(value: str, language: str) -> str | None:
    """Return the years of an age, told alone or with words for years; None of any other."""
    found = _YEARS_OF_AGE.fullmatch(value)
    if found is None:
        return None
    behind = found[2].lower().replace("-", " ").split()
    return found[1] if set(behind) <= {*_list_words(language, "years")} else None


def _may_be_name(value: str) -> bool:
    """Tell whether no word of a value is written like a common one, in scripts that show it."""
    is_marked = _INNER_MARKS.search(value) is not None
    return not is_marked and not any(word[0].islower() for word in value.split())


@cache
def _load_language_names(language: str) -> Mapping[str, str]:
    """Load the codes of languages by their names in a language."""
    told = load_wording(language)
    return {name.lower(): code for code, name in (told["languages"] if told else {}).items()}


def _strip_leading(value: str, language: str, *parts: str) -> str:
    """Return a value without the prepositions and the like that it begins with."""
    leading = _list_words(language, *(parts or ("leading",)))
    words = value.split()
    while len(words) > 1 and words[0].lower() in leading:
        words = words[1:]
    bare = " ".join(words) if leading else value
    elided = next((each for each in leading if each[-1] in "’'" and bare.startswith(each)), "")
    return bare.removeprefix(elided)


def _list_words(language: str, *parts: str) -> list[str]:
    """List the words of parts of a language's templates; none if it has none."""
    told = load_wording(language) or {}
    return [word for part in parts for word in str(told.get(part, "")).split()]


def _format_day_value(value: str, language: str, told: Mapping[str, Any]) -> str | None:
    """Format the day of the year, or the year, that a value names; None if it names none."""
    book, said = load_phrases(str(told["language"])), _read_day(value, language)
    if said is None:
        return value if _YEAR.fullmatch(value) else None
    year, month, day = said
    name = book.date_formats.months[month - 1]
    if year is None:
        return str(told["month_day"]).format(day=day, month=name, number=month)
    return book.date_formats.date.format(day=day, month=name, number=month, year=year)


def _read_day(value: str, language: str) -> tuple[int | None, int, int] | None:
    """Read the year, if it is told, the month and the day that a value names."""
    found = _ISO_DAY.fullmatch(value) or _HAN_DAY.search(value)
    if found:
        year, month, day = found.groups()
        said = (int(year) if year else None, int(month), int(day))
    else:
        is_known = language in list_languages("phrases")
        months = load_phrases(language).date_formats.months if is_known else ()
        named = (at for at, each in enumerate(months, 1) if each.lower() in value.lower())
        named_day, named_year = _DAY.search(value), _YEAR.search(value)
        said = (
            int(named_year[0]) if named_year else None,
            next(named, 0),
            int(named_day[0]) if named_day else 0,
        )
    is_day = 1 <= said[1] <= MONTHS and 1 <= said[2] <= MONTH_DAYS
    return said if is_day else None
