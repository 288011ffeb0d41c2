"""Message features: flags such as question, greeting or date, detected from a message's words.

The flags are stored as bits in the encoded terms, so that a search need not read the text again.
"""

import re
from enum import IntFlag
from typing import Final


class MessageFeature(IntFlag):
    """Flag that a message's text gets."""

    QUESTION = 1
    FIRST_PERSON = 2
    SECOND_PERSON = 4
    GREETING = 8
    NUMBER = 16
    TIME = 32
    NAME = 64
    PLACE = 128
    REASON = 256
    ATTACHMENT = 512
    THANKS = 1024
    EXCLAMATION = 2048
    PLURAL_PERSON = 4096
    PAST = 8192
    RELATION = 16384
    LIKING = 32768


_WORDS: Final[dict[MessageFeature, str]] = {
    MessageFeature.FIRST_PERSON: """i me my mine myself im ive yo mi me mis mío mía conmigo
        estoy soy tengo fui voy je j moi mon ma mes ich mir mich mein meine meinen meinem
        meiner eu meu minha meus io mio mia ik mij mijn я меня мне мой моя 我 私 僕 俺 나 내
        저 제 我的 私の 僕の""",
    MessageFeature.PLURAL_PERSON: """we us our ours nosotros nuestra nuestro nous notre nos wir
        uns unser unsere nós nossa nosso noi nostra nostro wij ons onze мы нас наш 我们 咱们
        私たち 우리""",
    MessageFeature.SECOND_PERSON: """you your yours u tú tu ti te tus usted vos toi ton ta tes
        vous votre du dich dir dein deine ihr euch você jij jou jouw ты тебя тебе твой вы 你
        您 你的 あなた 君 너 네""",
    MessageFeature.GREETING: """hey hi hello hiya howdy morning goodnight bye goodbye hola
        adiós buenas salut bonjour bonsoir coucou hallo moin tschüss servus olá oi ciao hoi
        привет пока 你好 您好 早安 晚安 再见 嗨 おはよう こんにちは こん おは 안녕""",
    MessageFeature.THANKS: """thanks thank thx cheers congrats congratulations wow
        gracias merci danke obrigado obrigada grazie bedankt dank спасибо 谢谢 多谢 恭喜
        あり がと 감사 고마""",
    MessageFeature.NUMBER: """one two three four five six seven eight nine ten eleven
        twelve dozen hundred thousand twice dos tres cuatro cinco seis siete ocho nueve diez
        deux trois quatre cinq six sept huit neuf dix zwei drei vier fünf sechs sieben acht
        neun zehn 一 二 三 四 五 六 七 八 九 十 两 百 千""",
    MessageFeature.TIME: """today tonight yesterday tomorrow ago week weeks weekend
        month months year years monday tuesday wednesday thursday friday saturday sunday
        january february march april june july august september october november december
        summer winter spring autumn soon recently last next since anniversary birthday hoy
        ayer anoche mañana semana semanas mes meses año años lunes martes miércoles jueves
        viernes sábado domingo enero febrero marzo abril mayo junio julio agosto septiembre
        octubre noviembre diciembre verano invierno primavera otoño hace desde aujourd hui
        hier demain semaine semaines mois an ans année lundi mardi mercredi jeudi vendredi
        samedi dimanche janvier février mars avril mai juin juillet août septembre octobre
        novembre décembre été hiver printemps automne depuis heute gestern vorgestern morgen
        woche wochen monat monate monaten jahr jahre jahren montag dienstag mittwoch
        donnerstag freitag samstag sonntag januar februar märz juni juli oktober dezember
        sommer herbst frühling seit letzte letzten letztes nächste nächsten nächstes 今天
        昨天 明天 前天 后天 上周 下周 星期 周末 周一 周二 周三 周四 周五 周六 周日 个月 上个
        下个 去年 今年 明年 年前 月份 生日 今日 昨日 明日 来週 先週 来月 先月 去年 来年 曜日
        毎日 週間""",
    MessageFeature.PLACE: """city town country street beach park lake mountain island
        village trip flew moved live lives lived visited travel traveled travelling ciudad
        país calle playa pueblo viaje viajé vivo vive ville pays rue plage voyage habite
        stadt land straße strand reise wohne wohnt gezogen 城市 去了 住在 搬到 旅行 海边 町
        住ん 旅行 引っ""",
    MessageFeature.REASON: """because cause since reason therefore thats why porque pues
        razón parce car raison weil denn deshalb grund porque perché perché omdat want
        потому 因为 所以 原因 から ので ため""",
    MessageFeature.PAST: """was were did went got had made took started bought found
        joined came saw met told gave lost won finished decided signed attended visited fui
        fue hice compré empecé conocí gané perdí suis allé allée acheté commencé trouvé
        perdu habe hatte gekauft angefangen gefunden verloren war bin gegangen 了 过 ました
        だった""",
    MessageFeature.RELATION: """mom mum mother dad father sister brother wife husband son
        daughter kid kids friend girlfriend boyfriend aunt uncle grandma grandpa cousin boss
        colleague neighbor neighbour cat dog madre padre mamá papá hermana hermano esposa
        marido hijo hija amigo amiga abuela abuelo gato perro mère père maman papa soeur
        sœur frère femme mari fils fille ami amie chat chien mutter vater schwester bruder
        frau mann sohn tochter freund freundin oma opa katze hund 妈妈 爸爸 姐姐 哥哥 弟弟
        妹妹 妻子 老公 老婆 儿子 女儿 朋友 母 父 姉 兄 弟 妹 妻 夫 息子 娘 友達""",
    MessageFeature.LIKING: """love loved like likes liked favorite favourite fave enjoy
        enjoyed prefer hate passion passionate dream hope want wanna gusta encanta favorito
        favorita prefiero quiero odio aime adore préféré préférée préfère déteste liebe mag
        lieblings lieber liebsten hasse möchte 喜欢 最爱 讨厌 爱 想要 好き 嫌い 大好""",
}
_MID_SENTENCE_CAPITAL = re.compile(r"[^\W\d_A-Z][,;:]? [A-Z][a-z]")
_QUESTION_MARKS: Final = ("？", "¿", "؟")
_ATTACHMENT_MARKS: Final = (
    "[shares",
    "<attached",
    "<media",
    "http://",
    "https://",
    "[photo",
    "[image",
)


def _build_word_features() -> dict[str, int]:
    features: dict[str, int] = {}
    for feature, words in _WORDS.items():
        for word in words.split():
            features[word] = features.get(word, 0) | int(feature)
    return features


_WORD_FEATURES: Final = _build_word_features()
# Plain integers, because each operation on an IntFlag takes a microsecond.
_QUESTION: Final = int(MessageFeature.QUESTION)
_EXCLAMATION: Final = int(MessageFeature.EXCLAMATION)
_NAME: Final = int(MessageFeature.NAME)
_ATTACHMENT: Final = int(MessageFeature.ATTACHMENT)
_NUMBER: Final = int(MessageFeature.NUMBER)
_YEAR: Final = int(MessageFeature.NUMBER | MessageFeature.TIME)


def detect_word_features(word: str) -> int:
    """Return the feature bits of a single word."""
    if word[0].isdecimal():
        return _YEAR if len(word) == 4 and word[:2] in {"19", "20"} else _NUMBER
    return _WORD_FEATURES.get(word, 0)


def detect_text_features(text: str) -> int:
    """Return the feature bits that depend on punctuation, capitals and attachments."""
    features = _EXCLAMATION if "!" in text else 0
    if "?" in text or (not text.isascii() and any(mark in text for mark in _QUESTION_MARKS)):
        features |= _QUESTION
    if _MID_SENTENCE_CAPITAL.search(text):
        features |= _NAME
    if ("[" in text or "<" in text or "://" in text) and _has_attachment(text.lower()):
        features |= _ATTACHMENT
    return features


def _has_attachment(text: str) -> bool:
    return any(mark in text for mark in _ATTACHMENT_MARKS)
