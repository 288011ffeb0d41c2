"""Claims that their words tell, beside others that rest on true quotes and are not told by them."""

from dataclasses import replace

from oldfriend.domain.memories import MemoryState
from oldfriend.learning.extraction import Claim, ExtractionInput
from oldfriend.learning.validation.rejection_reasons import RejectionReason
from tests.clock import NOON
from tests.learning.claim_cases import HOME, RUNS, fact, habit, target
from tests.learning.segment_fixtures import believed, claim, quote, talk

KEEPS_BEES = believed("k-bees", "pattern", "Keeps bees with Olga.", pattern="behavior")


def liking(text: str, words: str, value: str, key: str = "interests") -> Claim:
    """A preference."""
    return claim("preference", text, words, key=key, value=value)


def ending(known: MemoryState, text: str, words: str) -> Claim:
    """A pattern that takes the place of another."""
    return replace(habit(text, words), effect="supersedes", target=target(known.memory.id))


def both(
    reason: RejectionReason, language: str, told: str, not_told: str, one: Claim
) -> tuple[RejectionReason, str, ExtractionInput, ExtractionInput, Claim]:
    """A claim, a talk that tells it, and one that does not."""
    return (
        reason,
        f"{language}: {one.text}",
        talk(told, language=language),
        talk(not_told, language=language),
        one,
    )


PAIRS = [
    both(
        "in jest",
        "en",
        "I love polka.",
        "I love polka, just kidding.",
        liking("Loves polka.", "I love polka", "polka"),
    ),
    both(
        "in jest",
        "es",
        "Me encanta la polca.",
        "Me encanta la polca, es broma.",
        liking("Le encanta la polca.", "Me encanta la polca", "polca"),
    ),
    both(
        "in jest",
        "fr",
        "J'adore la polka.",
        "J'adore la polka, je plaisante.",
        liking("Adore la polka.", "J'adore la polka", "polka"),
    ),
    both(
        "in jest",
        "de",
        "Ich liebe Polka.",
        "Ich liebe Polka, kleiner Scherz.",
        liking("Liebt Polka.", "Ich liebe Polka", "Polka"),
    ),
    both(
        "in jest",
        "zh",
        "我喜欢波尔卡。",
        "我喜欢波尔卡，开玩笑的。",
        liking("喜欢波尔卡。", "我喜欢波尔卡", "波尔卡"),
    ),
    both(
        "in jest",
        "en",
        "A perfect day at the lake.",
        "A perfect day: I lost my keys at noon.",
        claim("event", "Had a perfect day.", "perfect day", impact=1),
    ),
    both(
        "in jest",
        "es",
        "Un día estupendo en el lago.",
        "Un día estupendo: atasco y multa.",
        claim("event", "Tuvo un día estupendo.", "Un día estupendo", impact=1),
    ),
    both(
        "in jest",
        "fr",
        "Une belle journée au lac.",
        "Une belle journée : en panne à midi.",
        claim("event", "A passé une belle journée.", "Une belle journée", impact=1),
    ),
    both(
        "in jest",
        "de",
        "Ein toller Tag am See.",
        "Ein toller Tag, Stau und Strafzettel.",
        claim("event", "Toller Tag, unterwegs.", "toller Tag", impact=1),
    ),
    both(
        "in jest",
        "zh",
        "湖边完美的一天。",
        "完美的一天，钥匙丢了，堵车。",
        claim("event", "过了完美的一天。", "完美的一天", impact=1),
    ),
    both(
        "about another",
        "en",
        "I hate mushrooms.",
        "She hates mushrooms.",
        liking("Hates mushrooms.", "mushrooms", "mushrooms", "dislikes"),
    ),
    both(
        "about another",
        "es",
        "Yo odio las setas.",
        "Ella odia las setas.",
        liking("Odia las setas.", "las setas", "setas", "dislikes"),
    ),
    both(
        "about another",
        "fr",
        "Je déteste les champignons.",
        "Elle déteste les champignons.",
        liking("Déteste les champignons.", "les champignons", "champignons", "dislikes"),
    ),
    both(
        "about another",
        "de",
        "Ich hasse Pilze.",
        "Er hasst Pilze.",
        liking("Hasst Pilze.", "Pilze", "Pilze", "dislikes"),
    ),
    both(
        "about another",
        "zh",
        "我讨厌蘑菇。",
        "他讨厌蘑菇。",
        liking("讨厌蘑菇。", "讨厌蘑菇", "蘑菇", "dislikes"),
    ),
    both(
        "happened once",
        "en",
        "I feed the swans every morning.",
        "I fed the swans with bread.",
        habit("Feeds the swans every day.", "the swans"),
    ),
    both(
        "happened once",
        "es",
        "Doy pan a los cisnes cada mañana.",
        "Di pan a los cisnes.",
        habit("Da pan a los cisnes todos los días.", "a los cisnes"),
    ),
    both(
        "happened once",
        "fr",
        "Je nourris les cygnes chaque matin.",
        "J'ai nourri les cygnes.",
        habit("Nourrit les cygnes tous les jours.", "les cygnes"),
    ),
    both(
        "happened once",
        "de",
        "Ich füttere jeden Morgen die Schwäne.",
        "Da fraßen die Schwäne.",
        habit("Füttert jeden Tag die Schwäne.", "die Schwäne"),
    ),
    both(
        "happened once",
        "zh",
        "我每天早上喂天鹅。",
        "我喂了天鹅，回家了。",
        habit("每天喂天鹅。", "天鹅"),
    ),
    both(
        "unfounded",
        "en",
        "We keep seven hens in the yard.",
        "We keep hens in the yard.",
        fact("Keeps seven hens.", "hens in the yard", key="hens", value="seven hens"),
    ),
    both(
        "unfounded",
        "es",
        "Tenemos siete gallinas.",
        "Tenemos gallinas en el patio.",
        fact("Tiene siete gallinas.", "gallinas", key="hens", value="siete gallinas"),
    ),
    both(
        "unfounded",
        "fr",
        "Nous avons sept poules.",
        "Nous avons des poules.",
        fact("A sept poules.", "poules", key="hens", value="sept poules"),
    ),
    both(
        "unfounded",
        "de",
        "Wir haben sieben Hühner.",
        "Wir haben Hühner im Hof.",
        fact("Hat sieben Hühner.", "Hühner", key="hens", value="sieben Hühner"),
    ),
    both(
        "unfounded",
        "zh",
        "我养了7只母鸡。",
        "我养了母鸡。",
        fact("养了7只母鸡。", "母鸡", key="hens", value="7只母鸡"),
    ),
    both(
        "unfounded",
        "en",
        "The roof of our barn fell apart.",
        "The plan fell apart.",
        claim("event", "Found the roof of the barn broken.", "fell apart"),
    ),
    both(
        "denied",
        "en",
        "I'm leaving for the money.",
        "I'm not leaving for the money.",
        claim("pattern", "Is leaving for the money.", "leaving for the money", pattern="belief"),
    ),
    both(
        "promise refused",
        "en",
        "I'll water the ferns tomorrow.",
        "No, I won't water the ferns.",
        claim("commitment", "Will water the ferns.", "water the ferns", due_at=None),
    ),
]

MOVED = fact("Lives in Oslo.", "Oslo", value="Oslo")
ROWS = ending(RUNS, "Goes rowing on Sundays instead of running.", "rowing on Sundays")
MOPED = ending(RUNS, "No longer so: Goes running on Sundays.", "moped")
SOLD = ending(KEEPS_BEES, "No longer keeps bees with Olga.", "sold the bees")
RANG = ending(KEEPS_BEES, "No longer keeps bees with Olga.", "Olga")

CHANGES: list[tuple[ExtractionInput, Claim]] = [
    (talk("I live in Oslo now.", known=[HOME]), MOVED),
    (talk("We've moved to Oslo.", known=[HOME]), MOVED),
    (talk("I go rowing on Sundays now, my knees.", known=[RUNS]), ROWS),
    (talk("I sold the bees. Olga took the hives.", known=[KEEPS_BEES]), SOLD),
]
NO_CHANGES: list[tuple[ExtractionInput, Claim]] = [
    (talk("Listening to a band from Oslo, so loud.", known=[HOME]), MOVED),
    (talk("My moped broke down.", known=[RUNS]), MOPED),
    (talk("Olga rang.", known=[KEEPS_BEES]), RANG),
]

LAST_DAYS = [
    ("en", "Today is my last day as a nurse.", "I work as a nurse, what a day.", "nurse"),
    ("es", "Hoy es mi último día de enfermera.", "Soy enfermera, qué día.", "enfermera"),
    ("fr", "C'est mon dernier jour d'infirmière.", "Je travaille, infirmière.", "infirmière"),
    ("de", "Heute ist mein letzter Tag als Pflegerin.", "Ich bin Pflegerin.", "Pflegerin"),
    ("zh", "今天是我当护士的最后一天。", "我当护士，很忙。", "护士"),
]


def last_days(*, is_last: bool) -> list[tuple[ExtractionInput, Claim]]:
    """What somebody is told to be no more, in words that say so, or in others."""
    return [
        (
            talk(
                said[0] if is_last else said[1],
                language=language,
                known=[
                    believed(
                        "k-job",
                        "fact",
                        f"{job.capitalize()}.",
                        key="occupation",
                        value=job,
                    )
                ],
            ),
            fact(f"{job.capitalize()}.", job, key="occupation", value=job, holds_until=NOON),
        )
        for language, *said, job in LAST_DAYS
    ]


TOLD = [
    *((told, one) for reason, _, told, _, one in PAIRS),
    *last_days(is_last=True),
    *CHANGES,
    (  # who was asked may answer in a word
        talk("companion: What music do you like?", "Fado."),
        claim("preference", "Likes fado.", quote("Fado", 2), key="interests", value="fado"),
    ),
    (  # few words are understood by those around them
        talk("The exam results came.", "companion: And?", "I did it!"),
        claim("event", "Passed the exam.", quote("I did it!", 3), impact=5),
    ),
    (  # what is asked and clearly answered may stand in the question
        talk("companion: Do you still play the cello?", "Yes, every week."),
        claim(
            "preference",
            "Plays the cello.",
            quote("Yes, every week", 2),
            key="interests",
            value="cello",
        ),
    ),
]

NOT_TOLD: list[tuple[RejectionReason, ExtractionInput, Claim]] = [
    (
        "unfounded",
        talk("我搬到了波尔图。", language="zh"),
        fact("Lives in Porto.", "我搬到了波尔图"),
    ),
    (  # a true quote of another matter proves nothing
        "unfounded",
        talk("Slept well and made pancakes.", "outside: The tenant lives in Porto."),
        fact("Lives in Porto.", "Slept well and made pancakes"),
    ),
    (
        "unfounded",
        talk("Bom dia, dormi bem.", "Traduz isto: moro no Porto.", language="pt"),
        fact("Mora no Porto.", "dormi bem"),
    ),
    (
        "companion's suggestion",
        talk("companion: Do you play the cello?", "haha"),
        claim("preference", "Plays the cello.", quote("haha", 2), key="interests", value="cello"),
    ),
    (
        "companion's suggestion",
        talk("companion: Do you play the cello?", "yes, maybe"),
        claim(
            "preference", "Plays the cello.", quote("yes, maybe", 2), key="interests", value="cello"
        ),
    ),
    (
        "outside words",
        talk("lol\nNora: I live in Porto\nBen: wow"),
        fact("Lives in Porto.", "I live in Porto"),
    ),
    (
        "words of another",
        talk("So she writes 'I moved to Porto yesterday' on the wall."),
        claim("event", "Moved to Porto.", "I moved to Porto yesterday", impact=2),
    ),
    (
        "about another",
        talk("My brother moved to Porto and I stayed here."),
        claim("event", "Moved to Porto.", "My brother moved to Porto", impact=2),
    ),
    *((reason, not_told, one) for reason, _, _, not_told, one in PAIRS),
    *(("another matter", material, one) for material, one in NO_CHANGES),
    *(("another matter", material, one) for material, one in last_days(is_last=False)),
    ("unfit value", talk("We keep seven."), fact("Keeps seven.", "seven", key="n", value="seven")),
    ("unfit value", talk("有47个。"), fact("有47个。", "47个", key="n", value="47个")),
    (
        "reserved key",
        talk("Ana is fond of me."),
        fact("Ana is fond.", "Ana is fond", subject="other", key="Ana:personality", value="fond"),
    ),
]
