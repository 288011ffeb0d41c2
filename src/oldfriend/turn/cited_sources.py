"""Cited sources: finds which of the sources shown to a model its reply can be traced to.

A model is asked to cite what it used, and not every one does, or does it well. What can be checked
is what its reply shares with a source and not with the question: words that are rare both in their
language and in the person's history, or an n-gram that contains such a word or is long. Everyday
words ("today", "think"), days, months and good wishes prove nothing. Sources are plain texts; their
authors are not known here.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.search import PersonIndex
from oldfriend.search.spelling import UNLISTED_SURPRISAL, find_lexicon
from oldfriend.search.tokenizer import is_stop_word, is_unspaced, stem_word, to_term, tokenize

_CALENDAR = """
monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays
fridays saturdays sundays mon tue tues wed thu thur thurs fri sat sun weekend weekends
january february march april may june july august september october november december
jan feb mar apr jun jul aug sep sept oct nov dec
lunes martes miércoles miercoles jueves viernes sábado sabado sábados domingo domingos finde
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag montags dienstags mittwochs
donnerstags freitags samstags sonntags wochenende wochenenden januar jänner februar märz mai juni
juli oktober dezember
lundi mardi mercredi jeudi vendredi samedi dimanche lundis mardis mercredis jeudis vendredis
samedis dimanches janvier février fevrier mars avril juin juillet août aout septembre octobre
novembre décembre decembre
segunda terça quarta quinta sexta domingo janeiro fevereiro março maio junho julho setembro
outubro novembro dezembro
lunedì martedì mercoledì giovedì venerdì sabato domenica gennaio febbraio aprile maggio giugno
luglio settembre ottobre dicembre
maandag dinsdag woensdag donderdag vrijdag zaterdag zondag januari februari maart mei augustus
понедельник вторник среда среду четверг пятница пятницу суббота субботу воскресенье января февраля
марта апреля мая июня июля августа сентября октября ноября декабря
"""
CALENDAR_WORDS: Final = frozenset(_CALENDAR.split())
"""Days of the week, months and weekends."""

_PLEASANTRIES = """
christmas xmas easter merry happy congratulations congrats luck cheers welcome regards sincerely
dear hugs hug wishes wish goodnight condolences enjoy fun sounds proud deserve breath breathe
breathing soon morning evening tonight tomorrow afternoon
navidad navidades pascua feliz felices felicidades enhorabuena suerte abrazo abrazos beso besos
saludos ánimo bienvenido bienvenida mejores mejorar mejórate disfruta descansa querido querida
gracias mañana espero
weihnachten ostern frohe fröhliche herzlichen glückwunsch glückwünsche besserung grüße grüßen
liebe lieber schönen schöne schönes guten gute gutes alles viel spaß erfolg glück willkommen
umarmung gemütlichen angenehmen morgen abend hoffe danke
noël pâques joyeux joyeuse joyeuses félicitations bravo courage bonne bon bonnes chance bises
bisous cordialement cher chère bienvenue rétablissement meilleurs voeux vœux journée soirée espère
profite demain merci
natal feliz parabéns sorte abraço abraços beijo beijos natale auguri buon buona fortuna kerst
gefeliciteerd gelukkig fijne beste groeten veel plezier succes рождеством поздравляю удачи привет
"""
PLEASANTRIES: Final = frozenset(_PLEASANTRIES.split())
"""Holidays, wishes, greetings and words of comfort."""

_UNSPACED = """
星期一 星期二 星期三 星期四 星期五 星期六 星期天 星期日 周一 周二 周三 周四 周五 周六 周日
周末 今天 明天 昨天 后天 今晚 昨晚 早上 晚上 下午 上午 中午 希望 祝你 祝您 过得 愉快 开心 快乐
顺利 生日快乐 新年 春节 圣诞 恭喜 加油 辛苦 晚安 早安 你好 谢谢 没关系 别担心 慢慢来 好好 休息
注意 身体 保重 照顾 自己 一路平安 新しい おめでとう ありがとう 頑張って おやすみ 今日 明日
昨日 月曜日 火曜日 水曜日 木曜日 金曜日 土曜日 日曜日
"""
UNSPACED_WORDS: Final = tuple(_UNSPACED.split())
"""Calendar words and pleasantries of languages that are written without spaces."""

FEW_STATED: Final = 3
"""So many sources a model may cite for any reply."""
WORDS_PER_SOURCE: Final = 3
"""And one for as many of its content words: more have no room in it."""

IsRare = Callable[[Sequence[str]], Sequence[bool]]
"""Tells for each word whether it is rare in the person's history."""

COMMON_WORD_BITS: Final = 9.0
"""Surprisal of an everyday word, in bits; only what exceeds it counts."""
CITATION_BITS: Final = 7.0
"""Shared bits for a citation: one rare word, such as "hazelnuts", or two less rare ones."""
UNEXPLAINED_BITS: Final = 1.0
"""Bits that a further source must share alone, not with those that were cited before."""
TOLD_SHARE: Final = 0.5
"""Or else so much of it stands in the reply that it tells the same as one that was cited."""
TIE_BITS: Final = 0.5
"""For each word that is shared at all."""
UNKNOWN_WORD_BITS: Final = 13.0
"""Surprisal of a word in a language without a lexicon: two such words are enough."""
CHARACTER_PAIR_BITS: Final = 12.0
"""Surprisal of two characters in a script without spaces: three such pairs are enough."""
NGRAM_WORDS: Final = 4
"""This many shared words in a row are a quotation if one of them is telling."""
TELLING_BITS: Final = 5.0
"""A word with more bits than this beyond an everyday one is telling."""
LONG_NGRAM_WORDS: Final = 8
"""This many shared words in a row are a quotation if at least half are no stock words."""
DATE_BITS: Final = 3.0
"""Bits of a day or month that is shared beside a shared number: "14 March"."""
NUMBER: Final = re.compile(r"(?<!\d)\d+(?=[^\W\d]{0,2}$)")  # 14, 14th, 7pm
STOCK_WORDS: Final = CALENDAR_WORDS | PLEASANTRIES
UNSPACED_STOCK_PATTERN: Final = re.compile("|".join(sorted(UNSPACED_WORDS, key=len, reverse=True)))
MAX_RARE_MESSAGES: Final = 5
MAX_RARE_SHARE: Final = 0.02
"""A word is rare if it stands in at most MAX_RARE_MESSAGES messages, or in this share of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenizedText:
    """The words of a text, in order and as stems."""

    stems: tuple[str, ...]
    words_by_stem: Mapping[str, str]  # a word for each stem that is no stop word

    def ngrams(self, size: int) -> set[tuple[str, ...]]:
        """Return all n-grams of a size."""
        starts = range(len(self.stems) - size + 1)
        return {self.stems[start : start + size] for start in starts}


def rank_cited_sources(
    reply: str,
    question: str,
    sources: Mapping[str, str],
    *,
    languages: Sequence[str],
    is_rare: IsRare,
) -> list[str]:
    """Return the ids of the sources that a reply can be traced to, the surest first.

    ``sources`` are texts by id; ``languages`` those of the reply and of the conversation.
    """
    reply_text, question_text = (
        list_content_words(reply, languages[0]),
        list_content_words(question, languages[0]),
    )
    new = {
        stem: word
        for stem, word in reply_text.words_by_stem.items()
        if stem not in question_text.words_by_stem and word not in STOCK_WORDS
    }
    rare = set(list_rare_stems(new, is_rare))
    bits = {stem: max(estimate_bits(new[stem], languages) - COMMON_WORD_BITS, 0.0) for stem in rare}
    quotable = find_quotable_ngrams(reply_text, question_text, bits)
    texts = {source: list_content_words(text, languages[0]) for source, text in sources.items()}
    evidence = ReplyEvidence(reply_text, question_text, bits, quotable)
    candidates = {
        source: words for source, words in texts.items() if evidence.score(words) >= CITATION_BITS
    }
    cited = list[str]()
    while candidates:
        best = max(candidates, key=lambda source: evidence.rank(candidates[source]))
        words = candidates.pop(best)
        if (
            not cited
            or evidence.score(words) >= UNEXPLAINED_BITS
            or evidence.share_told(words) >= TOLD_SHARE
        ):
            cited.append(best)
            evidence.remove(words)
    return cited


def check_stated_sources(
    stated: Sequence[str],
    traced: Sequence[str],
    reply: str,
    question: str,
    sources: Mapping[str, str],
    *,
    language: str,
) -> list[str]:
    """Return those of the sources that a model cites which its reply can rest on, as it names them.

    The only one it cites is believed: it may be told in quite other words. Of several, each must
    tell a word of the reply that neither the question nor those before it tell, unless none does.
    Where it cites more than the reply has room for, it has not chosen, and those count that the
    reply can be ``traced`` to.
    """
    named = [each for each in stated if each in sources]
    words = {each: list_content_words(sources[each], language).words_by_stem for each in named}
    reply_stems = list_content_words(reply, language).words_by_stem.keys()
    if len(named) > max(FEW_STATED, len(reply_stems) // WORDS_PER_SOURCE):
        return [each for each in traced if each in named]
    untold = reply_stems - list_content_words(question, language).words_by_stem.keys()
    telling = set[str]()
    for _ in named if len(named) > 1 else ():
        left = [each for each in named if each not in telling]
        best = max(left, key=lambda each: len(words[each].keys() & untold))
        if words[best].keys() & untold:
            telling.add(best)
            untold = untold - words[best].keys()
    return [each for each in named if each in telling] or named


class ReplyEvidence:
    """What in a reply tells of its sources, less what those that were cited account for."""

    def __init__(
        self,
        tokenized_reply: TokenizedText,
        question: TokenizedText,
        bits: Mapping[str, float],
        quotable: Mapping[int, set[tuple[str, ...]]],
    ) -> None:
        """Begin with the whole reply."""
        self._reply, self._question = tokenized_reply, question
        self._bits = dict(bits)
        self._quotable = {size: set(runs) for size, runs in quotable.items()}

    def score(self, source_text: TokenizedText) -> float:
        """Return the bits of a reply that a source accounts for."""
        common = self._bits.keys() & source_text.words_by_stem.keys()
        score = sum(self._bits[stem] for stem in common)
        if has_shared_date(self._reply, self._question, source_text, common):
            score += DATE_BITS
        quoted = any(
            not runs.isdisjoint(source_text.ngrams(size)) for size, runs in self._quotable.items()
        )
        return score + CITATION_BITS * quoted

    def rank(self, source_text: TokenizedText) -> float:
        """Return by what the next source is chosen: of two with one name in common, the closer."""
        shared = self._reply.words_by_stem.keys() & source_text.words_by_stem.keys()
        return self.score(source_text) + TIE_BITS * len(shared)

    def share_told(self, source_text: TokenizedText) -> float:
        """Return the share of a source's words that stand in the reply."""
        shared = self._reply.words_by_stem.keys() & source_text.words_by_stem.keys()
        return len(shared) / max(len(source_text.words_by_stem), 1)

    def remove(self, source_text: TokenizedText) -> None:
        """Take away what a source accounts for."""
        for stem in self._bits.keys() & source_text.words_by_stem.keys():
            del self._bits[stem]
        for size, runs in self._quotable.items():
            runs -= source_text.ngrams(size)


def find_quotable_ngrams(
    tokenized_reply: TokenizedText, question: TokenizedText, bits: Mapping[str, float]
) -> dict[int, set[tuple[str, ...]]]:
    """Return the n-grams of a reply that prove a quotation, by their length."""
    rare = {stem for stem, value in bits.items() if value > TELLING_BITS}
    telling = {
        stem for stem, word in tokenized_reply.words_by_stem.items() if word not in STOCK_WORDS
    }
    short = {
        run
        for run in tokenized_reply.ngrams(NGRAM_WORDS) - question.ngrams(NGRAM_WORDS)
        if not rare.isdisjoint(run)
    }
    long = tokenized_reply.ngrams(LONG_NGRAM_WORDS) - question.ngrams(LONG_NGRAM_WORDS)
    return {
        NGRAM_WORDS: short,
        LONG_NGRAM_WORDS: {run for run in long if 2 * len(telling & set(run)) >= LONG_NGRAM_WORDS},
    }


def has_shared_date(
    tokenized_reply: TokenizedText,
    question: TokenizedText,
    source_text: TokenizedText,
    shared_stems: Collection[str],
) -> bool:
    """Tell whether a reply shares with a source both a number and a day or month."""
    both = (
        tokenized_reply.words_by_stem.keys()
        & source_text.words_by_stem.keys() - question.words_by_stem.keys()
    )
    has_number = any(NUMBER.match(tokenized_reply.words_by_stem[stem]) for stem in shared_stems)
    return has_number and any(
        tokenized_reply.words_by_stem[stem] in CALENDAR_WORDS for stem in both
    )


def list_content_words(text: str, language: str) -> TokenizedText:
    """Return the words of a text; for scripts without spaces, the pairs of characters."""
    remaining = UNSPACED_STOCK_PATTERN.sub(" ", text)
    words = [word for word in tokenize(remaining) if len(word) > 1 or not is_unspaced(word)]
    stems = tuple(stem_word(word, language) for word in words)
    words_by_stem = {
        stem: word
        for stem, word in zip(stems, words, strict=True)
        if len(word) > 1 and not is_stop_word(word, language)
    }
    return TokenizedText(stems=stems, words_by_stem=words_by_stem)


def list_rare_stems(words: Mapping[str, str], is_rare: IsRare) -> Iterable[str]:
    """Yield the stems of the words that are rare in the person's history."""
    rarity = is_rare(list(words.values()))
    return (stem for stem, rare in zip(words, rarity, strict=True) if rare)


def estimate_bits(word: str, languages: Sequence[str]) -> float:
    """Return the surprisal of a shared word, in bits: the rarer the word, the more."""
    if (number := NUMBER.match(word)) is not None:
        digits = number[0]
        is_year = len(digits) == 4 and digits.startswith(("19", "20"))
        if len(digits) == 1:
            return COMMON_WORD_BITS
        return UNLISTED_SURPRISAL if len(digits) > 2 and not is_year else UNKNOWN_WORD_BITS
    if is_unspaced(word):
        return CHARACTER_PAIR_BITS
    lexica = [lexicon for each in {*languages, "en"} if (lexicon := find_lexicon(each)) is not None]
    is_listed = any(find_lexicon(language) is not None for language in languages)
    surprisal = min(lexicon.compute_surprisal(word) for lexicon in lexica)
    return surprisal if is_listed else min(surprisal, UNKNOWN_WORD_BITS)


def build_rarity_test(index: PersonIndex) -> IsRare:
    """Return a test of whether words are rare in a person's history, as the index counts them."""
    max_count = max(MAX_RARE_MESSAGES, MAX_RARE_SHARE * len(index))
    languages = index.tables.languages.strings

    def is_rare(words: Sequence[str]) -> Sequence[bool]:
        terms = [[*{to_term(word, language) for language in languages}] for word in words]
        return [count <= max_count for count in index.count_documents(terms)]

    return is_rare
