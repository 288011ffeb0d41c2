"""The words of the page: the same in each of its languages, none of them left in English."""

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import fields

import pytest

from oldfriend.api.page_assets import ENTRY, load_bundles
from oldfriend.api.web_app import STATIC_DIR
from oldfriend.channels.channel_registry import CHANNELS
from oldfriend.config.settings import list_sections

WORDS = STATIC_DIR / "js" / "i18n"
PHRASE = re.compile(r"^  (\w+): (\".*\"),$", re.M)
PLACEHOLDER = re.compile(r"\{(\w+)(?:\|[^{}]*)?\}")
COUNTED = re.compile(r"\{(\w+)\} (?!/)(\w[\w’'-]*)")
"""A number, with the word after it."""
FORMS = re.compile(r"\{(\w+)\|([^|{}]*)\|([^|{}]*)\}")
NUMBERS = """added beliefs count days done files findable found happened hours in kept learned
    messages minutes out read rejected seconds talks times tokens total uses"""
"""Placeholders that are counted."""
UNINFLECTED = {
    "en": """billion can changed characters could ended found h let min more new of out s times to
        went""",
    "de": """Sek Token Zeichen beendet behalten davon gefunden geschrieben geändert h heraus min neu
        offen s unserer verworfen von weitere zeigen""",
    "es": "caracteres de h mil min más s seg veces",
    "fr": "avec caractères de en fois h min par s sec sur",
}
"""Words that are the same beside one and beside several, and what is always much."""
OTHERS = ("de", "es", "fr", "zh")
SNAKE = re.compile(r"\b[a-z]{1,30}_[a-z]{1,30}\b")
SECTION = re.compile(r"\[[a-z]{1,30}\]")
LETTERS = re.compile(r"[^\W\d_]{2}")
SAME_AS_ENGLISH = {
    "de": """title telegram_title place_chat numbers_took offline_short said_setting_in_file
        said_span_minutes settings_companion_name settings_passkeys settings_preset_normal
        whatsapp_title""",
    "es": """title telegram_title place_chat doubt_no said_span_minutes section_tokens
        settings_passkeys settings_preset_normal settings_unit_tokens whatsapp_title""",
    "fr": """title telegram_title place_chat bring_format_notes conversation kind_note
        measure_calories memory_short_notes said_span_minutes section_tokens settings_passkeys
        settings_preset_normal settings_turns settings_unit_tokens settings_version
        whatsapp_title""",
    "zh": "title telegram_title whatsapp_title",
}
"""Names, and words that both languages share."""


def read_words(language: str) -> dict[str, str]:
    """The phrases of a language by their names."""
    found: dict[str, str] = {}
    for book in sorted((WORDS / language).glob("*.js")):
        pairs = PHRASE.findall(book.read_text("utf-8"))
        found |= {name: json.loads(text) for name, text in pairs}
    return found


def iterate_unfitting(language: str) -> Iterator[tuple[str, str]]:
    """Words after a number that stand there whatever the number is, by the name of the phrase."""
    allowed = {*UNINFLECTED[language].split()}
    for name, text in read_words(language).items():
        forms = {number for number, *_ in FORMS.findall(text)}
        for number, word in COUNTED.findall(text):
            if number in {*NUMBERS.split()} - forms and word not in allowed:
                yield name, f"{number} {word}"


def iterate_placeholders(language: str) -> Iterator[tuple[str, set[str]]]:
    """What is filled in, by the names of phrases of the page's own."""
    for name, text in read_words(language).items():
        if not name.startswith("said_"):
            yield name, set(PLACEHOLDER.findall(text))


@pytest.mark.parametrize("language", OTHERS)
def test_each_book_has_the_same_phrases_in_the_same_order(language: str) -> None:
    """As in English, in each file, and no line is written in another way."""
    for book in sorted((WORDS / "en").glob("*.js")):
        text = (WORDS / language / book.name).read_text("utf-8")
        names = [name for name, _ in PHRASE.findall(text)]
        assert names == [name for name, _ in PHRASE.findall(book.read_text("utf-8"))], book.name
        assert len(names) == len(re.findall(r"^  \w+:", text, re.M))


@pytest.mark.parametrize("language", OTHERS)
def test_phrases_fill_in_the_same_values(language: str) -> None:
    """As in English; what the server says may leave out what it tells in English alone."""
    assert dict(iterate_placeholders(language)) == dict(iterate_placeholders("en"))


@pytest.mark.parametrize("language", OTHERS)
def test_no_phrase_is_left_in_english(language: str) -> None:
    """But names, and words that are the same."""
    english = read_words("en")
    allowed = set(SAME_AS_ENGLISH[language].split())
    words = read_words(language)

    same = {
        name
        for name, text in words.items()
        if text == english[name] and LETTERS.search(PLACEHOLDER.sub("", text))
    }

    titles = {f"{channel}_title" for channel in CHANNELS}
    assert same - titles <= allowed, same - allowed
    assert allowed - titles <= same, allowed - same


@pytest.mark.parametrize("language", ["en", *OTHERS])
def test_no_phrase_names_a_setting_or_a_code(language: str) -> None:
    """What one can change is called as it is called on the page."""
    settings = {
        f"{name}.{each.name}"
        for name, section in list_sections().items()
        for each in fields(section)
    }
    coded = [
        (name, text)
        for name, text in read_words(language).items()
        for bare in [PLACEHOLDER.sub("", text)]
        if SNAKE.search(bare) or SECTION.search(bare) or any(each in bare for each in settings)
    ]

    assert coded == []


@pytest.mark.parametrize("language", UNINFLECTED)
def test_words_beside_a_number_go_with_it(language: str) -> None:
    """Of one message another word than of two; which of them is left to the browser."""
    assert [*iterate_unfitting(language)] == []


def test_chinese_has_one_form_for_all_numbers() -> None:
    """So that none is written twice."""
    assert [name for name, text in read_words("zh").items() if FORMS.search(text)] == []


@pytest.mark.slow  # it needs node, as the check of types does
@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", "0 messages · 1 message · 1,200 messages"),
        ("de", "0 Nachrichten · 1 Nachricht · 1.200 Nachrichten"),
        ("es", "0 mensajes · 1 mensaje · 1200 mensajes"),
        ("fr", "0 message · 1 message · 1\u202f200 messages"),
        ("zh", "0 条消息 · 1 条消息 · 1,200 条消息"),
    ],
)
def test_numbers_are_told_as_the_language_counts(language: str, told: str) -> None:
    """Nothing, one, and many."""
    script = f"""
        globalThis.localStorage = {{ getItem: () => null }};
        const value = {{ languages: ["{language}"] }};
        Object.defineProperty(globalThis, "navigator", {{ value }});
        const {{ ready, t }} = await import({json.dumps((WORDS.parent / "i18n.js").as_uri())});
        await ready;
        console.log([0, 1, 1200].map((count) => t("days_messages", {{ count }})).join(" · "));
        process.exit();
    """
    assert run_on_page(script) == told


@pytest.mark.slow  # it needs node, as the check of types does
def test_a_quote_is_said_in_a_sentence_that_holds_all_its_words() -> None:
    """In whole words; marks alone are said nowhere."""
    cases = [
        ("You said: “I live in Ulm”", "I live in Ulm.", True),
        ("昨天我住在乌尔姆", "我住在乌尔姆。", True),
        ("Fares (each way) went up", "(each way)", True),
        ("Japan is far", "ja", False),
        ("I live in Ulm", "?!", False),
        ("ich wohne jetzt in Ulm", "Opa ist gestern gestorben, ich wohne jetzt in Ulm", False),
    ]
    script = f"""
        globalThis.localStorage = {{ getItem: () => null }};
        Object.defineProperty(globalThis, "navigator", {{ value: {{ languages: ["en"] }} }});
        const {{ isSaidIn }} = await import({json.dumps((WORDS.parent / "i18n.js").as_uri())});
        const said = ([sentence, quote]) => isSaidIn(sentence, {{ quote }});
        console.log(JSON.stringify({json.dumps(cases)}.map(said)));
        process.exit();
    """

    assert json.loads(run_on_page(script)) == [each[-1] for each in cases]


def run_on_page(script: str) -> str:
    """What a script prints that imports modules of the page."""
    node = ["node", "--input-type=module", "-e", script]
    return subprocess.run(
        node, capture_output=True, text=True, check=True, timeout=20
    ).stdout.strip()


def test_words_of_other_languages_are_not_in_the_first_bundle() -> None:
    """Each has a bundle of its own, which is read when it is spoken."""
    bundles = load_bundles()

    assert {f"js/i18n/{language}.js" for language in OTHERS} <= {*bundles}
    assert "js/i18n/en/chat.js" in bundles[ENTRY]
    for language in OTHERS:
        assert f'"js/i18n/{language}/chat.js": ' not in bundles[ENTRY]
        assert f'"js/i18n/{language}/chat.js": ' in bundles[f"js/i18n/{language}.js"]
