"""A language is one folder and one entry in a list; whatever its folder lacks falls back."""

import ast
import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import get_args

import pytest

import oldfriend
from oldfriend.lang import language_pack
from oldfriend.lang.language_pack import get_traits, list_languages, load_language_pack

SRC = Path(oldfriend.__file__).parent
PACKS = SRC / "lang" / "packs"
SMALL_PACK = {
    "language": """
        script = "latin"
        letters = "ĉĝŝ"
        question_words = "kie kiu"
        stop_words = "kaj estas mia la kie ĉu sed ankaŭ"
    """,
    "roles": 'patrino = "mother"\nhundo = "dog"',
    "emotions": 'not = ["ne"]\nanxious = ["maltrankvil"]',
    "key_synonyms": 'location = ["loĝas"]',
    "critical_tokens": 'numbers = "du/dufoje tri"\nnegations = "\\\\bne\\\\b"',
    "dates": """
        happened = 'okazis'
        said = 'diris'
        weekdays = ['lundo', 'mardo', 'merkredo', 'ĵaŭdo', 'vendredo', 'sabato', 'dimanĉo']
        last = ['pasinta {day}']
        other = ['ĉiu {day}']
        weekend = 'semajnfino'
        last_weekend = 'pasinta semajnfino'
        times = [{ said = 'hieraŭ', unit = "day", ago = 1 }]
    """,
    "queries": """
        own = 'mi|mia'
        belonging = 'mia (\\w+)'
    """,
    "questions": """
        lead = ''
        tail = ''
        ago = ''
        by_a_time = 'antaŭ \\d+'
        my_kin = 'mia {kin}'
        of_others = '{any_kin} de '
        who = ['kiu estas mia {kin}']
        favourite = []
        alike = {}
        kin_words = {}
        pieces = { liked = '\\w+' }
        [[question]]
        keys = ["location"]
        own = ['kie mi loĝas']
    """,
}
PROGRAM = """
import json, sys
from pathlib import Path
from oldfriend.lang import language_pack

language_pack.PACKS = Path(sys.argv[1])
language_pack.LANGUAGES = (*language_pack.LANGUAGES, "eo")

from oldfriend.lang.detection import detect_language
from oldfriend.lang.named_days import find_named_days
from oldfriend.learning.critical_tokens import extract_critical_tokens
from oldfriend.learning.rule_extraction.rule_loader import load_rule_book
from oldfriend.learning.validation.cue_words import get_cue_words
from oldfriend.learning.validation.relation_checks import load_relation_lists
from oldfriend.learning.validation.tone import check_tone
from oldfriend.memory.restatement_detection import find_restatement
from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES, choose_language, load_phrases
from oldfriend.search.synonyms import list_key_synonyms
from oldfriend.search.question_patterns import find_requested_attribute
from oldfriend.search.synonyms import get_role_words
from oldfriend.search.subject_query import is_only_about_kin
from oldfriend.search.tokenizer import is_stop_word
from oldfriend.turn.attribution.cues import list_cue_languages
from oldfriend.turn.message_analysis import detect_emotion
from oldfriend.turn.intent import Addressee, perceive

asked = find_requested_attribute("Kie mi loĝas?")
critical = extract_critical_tokens("mi ne havas du hundojn", "eo")
greeted = perceive("Saluton!", Addressee(name="Ana", languages=("en",)))
print(json.dumps({
    "detected": detect_language("mia hundo estas la plej bona", fallback="en"),
    "by letter": detect_language("ŝi ĝojas", fallback="en"),
    "english": detect_language("my dog is the best one of all", fallback="eo"),
    "spoken": [*OFFLINE_LANGUAGES],
    "chosen": choose_language("eo"),
    "greeting": [greeted.intent, greeted.language],
    "phrase": load_phrases("eo").phrases["greeting"],
    "question": asked and [*asked.keys],
    "synonyms": [*list_key_synonyms("location", "eo")],
    "role": get_role_words("eo")["patrino"],
    "weekday": [each.weekday for each in find_named_days("pasinta mardo")],
    "only kin": is_only_about_kin("mia patrino venis", "eo"),
    "stop word": is_stop_word("kaj", "eo"),
    "emotion": detect_emotion("ŝi estas maltrankvila", "eo"),
    "numbers": sorted(critical.numbers),
    "negated": critical.is_negated,
    "cue languages": [*list_cue_languages("mia hundo estas la plej bona", "es")],
    "rules": load_rule_book("eo") is load_rule_book("en"),
    "evidence cues": get_cue_words("eo") is get_cue_words("en"),
    "relation cues": load_relation_lists("eo") == load_relation_lists("en"),
    "tone": check_tone("mia hundo estas la plej bona", language="eo"),
    "restatement": find_restatement("la kodo estas 2", "la kodo estas 1", "eo"),
}))
"""


@pytest.fixture
def packs(tmp_path: Path) -> Path:
    """All packs, and one of a small new language that has some of the files."""
    for pack in PACKS.iterdir():
        (tmp_path / pack.name).symlink_to(pack)
    folder = tmp_path / "eo"
    folder.mkdir()
    for name, text in SMALL_PACK.items():
        (folder / f"{name}.toml").write_text(text, "utf-8")
    phrases = (PACKS / "en" / "phrases.toml").read_text("utf-8")
    phrases = phrases.replace("greeting = [\n", 'greeting = [\n    "saluton",\n', 1)
    phrases = phrases.replace('greeting = "Hello.', 'greeting = "Saluton.', 1)
    (folder / "phrases.toml").write_text(phrases, "utf-8")
    return tmp_path


def test_new_language_needs_only_a_pack_folder_and_a_registration(packs: Path) -> None:
    """What its folder has is used wherever it is asked for; what it lacks is as without it."""
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(packs)], capture_output=True, text=True, check=False
    )

    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found.pop("phrase").startswith("Saluton.")
    assert found == {
        "weekday": [1],
        "detected": "eo",
        "by letter": "eo",
        "english": "en",
        "spoken": ["en", "es", "pt", "de", "fr", "it", "zh", "ja", "eo"],
        "chosen": "eo",
        "greeting": ["greeting", "eo"],
        "question": ["location"],
        "synonyms": ["loĝas"],
        "role": "mother",
        "only kin": True,
        "stop word": True,
        "emotion": "anxious",
        "numbers": ["2"],
        "negated": True,
        "cue languages": ["es", "en"],
        "rules": True,
        "evidence cues": True,
        "relation cues": True,
        "tone": None,
        "restatement": None,
    }


def test_unregistered_language_code_loads_no_files() -> None:
    """A code is never a path: what people's settings name is not opened unless registered."""
    for code in ("sv", "", "../packs/en", "en/../es"):
        pack = load_language_pack(code)

        assert not pack.has("language")
        assert pack.read("phrases") == {}
        assert pack.traits == language_pack.LanguageTraits()


def test_every_language_pack_is_registered_and_parses() -> None:
    """Every file of every folder has a name that is known, and English has them all."""
    names = {*get_args(language_pack.PackFile)}

    assert {pack.name for pack in PACKS.iterdir()} == set(language_pack.LANGUAGES)
    for file in PACKS.rglob("*"):
        if file.is_file():
            assert file.stem in names
            assert tomllib.loads(file.read_text("utf-8"))
    assert {file.stem for file in (PACKS / "en").iterdir()} == names - {"variants"}


@pytest.mark.parametrize("language", list_languages("rules"))
def test_language_with_extraction_rules_has_every_pack_file(language: str) -> None:
    """Of the languages that ship, one is read with all that belongs to it, or only recognized."""
    files = {file.name for file in (PACKS / language).iterdir()}

    assert files - {"variants.toml"} == {file.name for file in (PACKS / "en").iterdir()}


def test_language_pack_files_are_loaded_lazily() -> None:
    """Reading a message in English parses no file of a language that is neither tried nor told."""
    program = (
        "from oldfriend.lang.language_pack import LanguagePack\n"
        "read, parse = [], LanguagePack.read\n"
        "def note(pack, file):\n"
        "    read.append((pack.code, file))\n"
        "    return parse(pack, file)\n"
        "LanguagePack.read = note\n"
        "import oldfriend.learning.consolidate, oldfriend.turn.pipeline\n"
        "assert not read, read\n"
        "from oldfriend.turn.attribution.cues import load_cues_for\n"
        "load_cues_for('I told her that it was over', 'en')\n"
        "assert {each for each in read if each[1] != 'language'} == {('en', 'attribution_cues')}\n"
        "assert len(read) == len(set(read)), read\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


EXCEPTIONS = {
    # Measured with the bundled embedder or word list; a language without an entry has defaults.
    "search/belief_results.py",
    "search/spelling.py",
    "search/types.py",
    "turn/offline_ranking.py",
    # The small words before a date, "de" and "en" among them.
    "search/date_parser.py",
}


def test_no_table_by_language_outside_the_packs() -> None:
    """Words of a language are in its pack; code asks for traits, not for names of languages."""
    found = set()
    for path in sorted(SRC.rglob("*.py")):
        inside = path.relative_to(SRC).as_posix()
        if inside == "lang/language_pack.py":  # the registration
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            codes = list_codes(node)
            if "zh" in codes or (len(codes) > 1 and inside not in EXCEPTIONS):
                found.add((inside, *codes))
    assert found == set()


def list_codes(node: ast.AST) -> list[str]:
    """The codes of languages among the keys, or the members, of a table; or one compared with."""
    parts: list[ast.expr | None] = []
    if isinstance(node, ast.Dict):
        parts = list(node.keys)
    elif isinstance(node, ast.Set | ast.Tuple | ast.List):
        parts = list(node.elts)
    elif isinstance(node, ast.Compare):
        parts = [node.left, *node.comparators]
    values = [part.value for part in parts if isinstance(part, ast.Constant)]
    return [each for each in values if isinstance(each, str) and each in CODES]


CODES = frozenset(language_pack.LANGUAGES)


def test_language_traits_have_the_expected_values() -> None:
    """Those that code relies on."""
    assert get_traits("zh").is_han
    assert not get_traits("zh").spaces
    assert get_traits("ko").is_cjk
    assert get_traits("ko").spaces
    assert get_traits("de").name_capitals == "nouns"
    assert "the" in get_traits("en").stop_words
