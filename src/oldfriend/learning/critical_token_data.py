"""Critical token data: words of five languages that must agree before two sentences are duplicates.

The forms of one token are separated by "/"; in Chinese they match anywhere, in the other languages
as whole words. For any other language there are only words that reverse a sentence's meaning.
"""

from collections.abc import Mapping
from typing import Final

WordTable = Mapping[str, str]
"""The words of each language, in an order that all languages share."""

MONTHS: Final[WordTable] = {
    "en": """january/jan february/feb march april/apr may june/jun july/jul august/aug
        september/sep/sept october/oct november/nov december/dec""",
    "es": """enero febrero marzo abril mayo junio julio agosto septiembre/setiembre octubre
        noviembre diciembre""",
    "fr": """janvier février mars avril mai juin juillet août septembre octobre novembre
        décembre""",
    "de": """januar/jänner februar märz april mai juni juli august september oktober november
        dezember""",
}
WEEKDAYS: Final[WordTable] = {
    "en": """monday/mondays tuesday/tuesdays wednesday/wednesdays thursday/thursdays
        friday/fridays saturday/saturdays sunday/sundays weekend/weekends""",
    "es": """lunes martes miércoles jueves viernes sábado/sábados domingo/domingos
        finde/findes""",
    "fr": """lundi/lundis mardi/mardis mercredi/mercredis jeudi/jeudis vendredi/vendredis
        samedi/samedis dimanche/dimanches week""",
    "de": """montag/montags dienstag/dienstags mittwoch/mittwochs donnerstag/donnerstags
        freitag/freitags samstag/samstags/sonnabend/sonnabends sonntag/sonntags
        wochenende/wochenenden""",
    "zh": """周一/星期一/礼拜一 周二/星期二/礼拜二 周三/星期三/礼拜三 周四/星期四/礼拜四
        周五/星期五/礼拜五 周六/星期六/礼拜六 周日/周天/星期天/星期日/礼拜天 周末""",
}
TIME_WORDS: Final[WordTable] = {  # yesterday, today, tomorrow; parts of the day; seasons
    "en": """yesterday today tomorrow morning/mornings noon/lunchtime afternoon/afternoons
        evening/evenings/night/nights/tonight midnight spring summer/summers autumn/fall
        winter/winters""",
    "es": """ayer/anoche hoy pasado mañana/mañanas mediodía tarde/tardes noche/noches medianoche
        primavera verano/veranos otoño invierno/inviernos""",
    "fr": """hier aujourd demain matin/matins/matinée midi aprem soir/soirs/soirée/nuit/nuits
        minuit printemps lété automne hiver/hivers""",
    "de": """gestern heute übermorgen morgen/morgens/vormittag/vormittags mittag/mittags
        nachmittag/nachmittags abend/abends/nacht/nachts mitternacht frühling/frühjahr
        sommer/sommers herbst winter/winters""",
    "zh": """昨天/昨晚 今天/今晚 明天/明晚 早上/早晨/清晨/上午 中午 下午 晚上/夜里/傍晚/夜晚 半夜
        春天 夏天 秋天 冬天""",
}
NUMBERS: Final[WordTable] = {  # from 2 on: 1 is an article in most languages
    "en": "two/twice three four five six seven eight nine ten eleven twelve",
    "es": "dos tres cuatro cinco seis siete ocho nueve diez once doce",
    "fr": "deux trois quatre cinq six sept huit neuf dix onze douze",
    "de": "zwei/zweimal drei/dreimal vier fünf sechs sieben acht neun zehn elf zwölf",
}
POLARITY_AXES: Final[Mapping[str, Mapping[str, str]]] = {  # of each axis, one position per side
    "kin": {
        "en": """mother/mom/mum/mothers father/dad sister/sisters brother/brothers
            daughter/daughters son/sons wife husband grandmother/grandma grandfather/grandpa
            aunt uncle niece nephew girlfriend boyfriend""",
        "es": """madre/mamá padre/papá hermana/hermanas hermano/hermanos hija/hijas hijo/hijos
            esposa/mujer esposo/marido abuela abuelo tía tío sobrina sobrino novia novio""",
        "fr": """mère/maman père/papa sœur/soeur/sœurs frère/frères fille/filles fils
            femme/épouse mari/époux grandmère/mamie grandpère/papi tante oncle nièce neveu
            copine copain""",
        "de": """mutter/mama vater/papa schwester/schwestern bruder/brüder tochter/töchter
            sohn/söhne frau/ehefrau mann/ehemann großmutter/oma großvater/opa tante onkel
            nichte neffe freundin freund""",
        "zh": """妈妈/母亲 爸爸/父亲 姐姐 哥哥 妹妹 弟弟 女儿 儿子 妻子/老婆/太太 丈夫/老公
            奶奶/外婆/姥姥 爷爷/外公/姥爷 阿姨/姑姑 叔叔/舅舅 女朋友 男朋友""",
    },
    "order": {
        "en": "before after",
        "es": "antes después/tras",
        "fr": "avant après",
        "de": "vor/vorher nach/nachher/danach",
        "zh": "前 后",
    },
    "trade": {
        "en": "buy/buys/bought/buying sell/sells/sold/selling",
        "es": "compra/compró/comprado/comprar vende/vendió/vendido/vender",
        "fr": "achète/acheté/achetée/acheter vend/vendu/vendue/vendre",
        "de": "kauft/kaufte/gekauft/kaufen verkauft/verkaufte/verkaufen",
        "zh": "买 卖",
    },
    "marriage": {
        "en": "marry/marries/married/wedding divorced/divorce/divorces/separated",
        "es": "casó/casada/casado/casarse/boda divorció/divorciada/divorciado/separó/divorcio",
        "fr": "marié/mariée/mariage/épouse divorcé/divorcée/divorce/séparé/séparée",
        "de": "verheiratet/geheiratet/heiratete/hochzeit geschieden/scheidung/getrennt",
        "zh": "结婚 离婚/分手",
    },
    "gain": {
        "en": "won/wins/win/found/got/gets lost/loses/lose",
        "es": "ganó/gana/encontró/consiguió perdió/pierde/perdido",
        "fr": "gagné/gagne/trouvé/obtenu perdu/perd/perdue",
        "de": "gewonnen/gewann/gefunden/fand/bekommen verloren/verlor",
        "zh": "赢/找到 输/丢/失去",
    },
    "way": {
        "en": "arrived/arrives/came/comes/returned left/leaves/leave",
        "es": "llegó/llega/volvió/vuelve salió/sale/marchó/fue",
        "fr": "arrivé/arrive/revenu/rentré parti/partie/part/quitté",
        "de": "angekommen/kam/kommt/zurückgekehrt abgereist/verließ/verlassen/weggegangen",
        "zh": "到达/回来/到了 离开/走了",
    },
    "degree": {
        "en": "more/better/bigger/longer less/fewer/worse/smaller/shorter",
        "es": "más/mejor/mayor menos/peor/menor",
        "fr": "plus/mieux/meilleur moins/pire/pis",
        "de": "mehr/besser/länger weniger/schlechter/kürzer",
        "zh": "更多/更好 更少/更差",
    },
    "hour": {
        "en": "early/earlier late/later",
        "es": "temprano/pronto tarde",
        "fr": "tôt tard",
        "de": "früh/früher spät/später",
        "zh": "早 晚",
    },
    "mood": {
        "en": "happy/glad/proud/relieved sad/unhappy/angry/ashamed/afraid",
        "es": "feliz/contenta/contento/orgullosa/orgulloso triste/enfadada/enfadado/miedo",
        "fr": "heureuse/heureux/contente/content/fière/fier triste/malheureux/fâchée/peur",
        "de": "glücklich/froh/stolz traurig/unglücklich/wütend/angst",
        "zh": "开心/高兴/自豪 难过/伤心/生气/害怕",
    },
    "often": {
        "en": "daily/everyday weekly monthly yearly/annually rarely/seldom",
        "es": "diario/diariamente semanalmente mensualmente anualmente raramente/apenas",
        "fr": "quotidiennement/quotidien hebdomadaire mensuel annuel rarement",
        "de": "täglich wöchentlich monatlich jährlich selten",
        "zh": "每天/天天 每周/每星期/每个星期 每月/每个月 每年 很少/偶尔",
    },
}
EVERY_UNIT: Final[Mapping[str, str]] = {  # frequency, followed by a unit: day, week, month, year
    "en": r"every (?:(day)|(week)|(month)|(year))\b",
    "es": r"(?:cada|todos los|todas las) (?:(días?)|(semanas?)|(mes(?:es)?)|(años?))\b",
    "fr": r"(?:chaque|tous les|toutes les) (?:(jours?)|(semaines?)|(mois)|(ans|années?))\b",
    "de": r"jede[nsr]? (?:(tag)|(woche)|(monat)|(jahr))\b",
}

NEGATIONS: Final[Mapping[str, str]] = {
    # Each match reverses the sentence once; so do words for stopping, hating and failing.
    "en": r"""\b(?:not(?!\ only)|never|no|nobody|none|nothing|neither|without|cannot)\b|n't\b
        |\b(?:stop(?:s|ped|ping)?|quit(?:s|ting)?|g[ai]ve(?:s|n)?\ up|giving\ up)\b
        |\b(?:hat(?:e|es|ed|ing)|dislik\w+|detest\w*|loath\w+|avoid\w*|refus\w+|declin\w+)\b
        |\b(?:fail(?:s|ed|ing)?|unable|cancel\w+)\b""",
    "es": r"""\bsin\b|\bdej(?:a|ó|é|ar|ado|aron)\ de\b
        |\b(?:odi(?:a|o|ó|aba|ar)|detest\w+|disgust\w+|suspend\w+|reprob\w+|evit\w+|rechaz\w+
        |cancel\w+)\b""",
    "fr": r"""\bsans\b|\barrêt(?:e|é|ée|er|ait)\b|\bcess(?:e|é|er|ait)\b
        |\b(?:détest\w+|hait|haïs\w*|rat(?:é|ée|e|er)|échou\w+|évit\w+|refus\w+|annul\w+)\b""",
    "de": r"""\b(?:nicht(?!\ nur)|kein\w*|nie|niemals|ohne|nichts|niemand|weder)\b
        |\baufgehört\b|\bhört(?:e)?\b.{0,40}\bauf\b|\baufzuhören\b
        |\bdurch(?:gefallen|\b.{0,40}\bgefallen)\b
        |\b(?:hass\w+|verabscheu\w+|verm(?:ei|ie)d\w+|meidet|mied|weiger\w+|abgesagt)\b""",
    "zh": r"不|没|未|无|别|戒|讨厌|厌恶|停止|拒绝|失败|避免|取消",
    "it": r"\b(?:non|mai|senza|nessun\w*)\b",
    "pt": r"\b(?:não|nunca|sem|nenhum\w*)\b",
    "nl": r"\b(?:niet|geen|nooit|zonder)\b",
    "ru": r"\b(?:не|нет|никогда|без)\b",
    "ja": r"ない|なかった|ません|嫌い",
    "ko": r"않|못|없|아니|싫어",
}
SINGLE_NEGATIONS: Final[Mapping[str, str]] = {
    # However many of these a sentence contains, together they reverse it once.
    "es": r"\b(?:no(?! sólo| solo)|nunca|jamás|nadie|ning[uú]n\w*|tampoco)\b",
    "fr": r"\b(?:ne|pas|jamais|aucune?)\b|\bn'",
}
NON_NEGATING: Final[Mapping[str, str]] = {
    # Phrases that contain a negating character or word but negate nothing.
    "en": r"\bno (?:doubt|matter|wonder)\b",
    "zh": "不错|不但|不过|不仅|不只|不光|不管|不论|无论|特别|分别|差不多|不同|了不起|不好意思|不久|"
    "不断|得不|忍不住|个别|告别|别墅|性别|区别|离别|别人|说不定|不少|不止|对不起|没关系|不安|戒指",
}
SYNONYMS: Final[WordTable] = {  # stems with the same meaning in statements about a person
    "en": """like/love/enjoy/ador live/resid call/phone/telephon start/begin/began
        quit/stop/gave/give/longer job/work big/larg home/hous die/pass move/reloc
        hate/dislik/detest/loath run/jog ex/former frighten/afraid/scare nervous/anxious""",
    "es": """gust/encant/ador/am viv/resid llam/telefone empez/comenz trabaj/emple mur/fallec
        od/detest corr/trot nervios/ansios""",
    "fr": """aim/ador habit/vit/viv/demeur appel/telephon/téléphon commenc/debut arret/cess
        travail/emploi cour/court mort/deced réuss/reuss/obtenu detest/hait""",
    "de": """lieb/liebt/mag/gern/gernhab wohn/wohnt/leb/lebt ruf/ruft/anruf/telefoni/telefoniert
        anfang/begonn/begann/angefang arbeit/arbeitet/stell gestorb/starb/verstorb/verstarb
        hass/hasst/verabscheut lauf/lauft/renn/rennt/jogg/joggt""",
    "zh": """爱/喜欢/喜爱 周日/星期天/星期日/周天 妈妈/母亲 爸爸/父亲 去世/过世 当/是/做""",
}
NAME_FOLLOWING_VERBS: Final[Mapping[str, str]] = {
    # Words that follow a name at the start of a sentence; in English also any third person.
    "en": """is was has had will can does did lives likes loves hates works wants says thinks
        and got went moved died plays takes needs feels became moved""",
    "es": """es era fue está estaba tiene tenía ha se le no vive trabaja quiere dice y murió va
        juega necesita odia ama prefiere""",
    "fr": """est était a avait se s ne n vit habite travaille veut dit et va aime déteste joue
        préfère""",
    "de": """ist war hat hatte wird wohnt lebt arbeitet will mag liebt hasst sagt und geht spielt
        kommt zieht starb""",
}
