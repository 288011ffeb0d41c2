"""WhatsApp lines: where a message begins, its date and time, and text that WhatsApp wrote itself.

A header is the date, time and separator that open a message, in the words and order of the phone's
language. Which of its three numbers is the day is decided in ``whatsapp_dates``.

Covers English, Spanish, German, French, Italian, Portuguese, Dutch and Chinese. Media and
attachments, whose form is the same everywhere, are recognized in other languages too.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

HeaderStyle = Literal["dash", "bracket"]  # Android, iPhone

_MORNING: Final = (
    r"a\.?\s?m\.?|上午|凌晨|清晨|早上|早晨|午前|오전|ص|vorm\.|π\.?\s?μ\.?"
    r"|ق\.ظ\.?|पूर्वाह्न|öö|sa|de\."
)
_EVENING: Final = (
    r"p\.?\s?m\.?|下午|晚上|中午|傍晚|夜晚|午後|오후|م|nachm\.|μ\.?\s?μ\.?"
    r"|ب\.ظ\.?|अपराह्न|ös|ch|du\."
)
_MARKS: Final = r"[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]*+"
_PERIOD: Final = rf"(?:(?P<{{0}}_am>{_MORNING})|(?P<{{0}}_pm>{_EVENING}))"
_BETWEEN: Final = rf"{_MARKS}\s?[./\-年月]\s?{_MARKS}"
_DATE: Final = (
    rf"(?P<first>\d{{1,4}}){_BETWEEN}(?P<second>\d{{1,2}}){_BETWEEN}(?P<third>\d{{1,4}})"
    rf"{_MARKS}[.日]?"
)
_GAP: Final = rf"{_MARKS}[,،、]?{_MARKS}\s+(?:(?:à|at|um|om|a las|às|alle|kl\.?)\s+)?"
_TIME: Final = (
    rf"(?:{_PERIOD.format('before')}\s?)?(?P<hour>\d{{1,2}})[:.](?P<minute>\d{{2}})"
    rf"(?:[:.](?P<sec>\d{{2}}))?(?:{_MARKS}\s?{_PERIOD.format('after')})?(?:\s?Uhr)?"
)
_WHEN: Final = rf"(?P<written>{_DATE}{_GAP}{_TIME}){_MARKS}"
_HEADERS: Final[dict[HeaderStyle, re.Pattern[str]]] = {
    "dash": re.compile(rf"\A{_MARKS}{_WHEN}\s[-–]\s(?P<rest>.*)", re.I | re.S),
    "bracket": re.compile(rf"\A{_MARKS}\[{_MARKS}{_WHEN}\]\s(?P<rest>.*)", re.I | re.S),
}
_INVISIBLE: Final = re.compile(r"[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+")
_UNPADDED_AMERICAN: Final = re.compile(r"[1-9]\d?/[1-9]\d?/\d{2,4}, [1-9]\d?:\d\d(:\d\d)?\s[AP]M")


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageHeader:
    """The header of a message, before the order of its date is known."""

    style: HeaderStyle
    time_text: str  # as written in the file
    prefix: str  # the line up to the end of its date
    numbers: tuple[int, int, int]
    year_position: int | None  # which of the numbers has four digits
    hour: int
    minute: int
    second: int
    body: str  # the speaker and the text, or a system notice

    def format_time_key(self) -> str:
        """Return the time as written, without whitespace and invisible marks."""
        plain = "".join(self.time_text.split())
        return plain if plain.isascii() else _INVISIBLE.sub("", plain)

    def has_dots(self) -> bool:
        """Return whether the date is written with dots, as in Germany."""
        return "." in self.time_text[:6]

    def is_american(self) -> bool:
        """Return whether date and time are written as only American phones do."""
        return _UNPADDED_AMERICAN.fullmatch(self.time_text) is not None


def find_header(line: str, style: HeaderStyle | None) -> MessageHeader | None:
    """Return the header a line begins with, if it does; None as the style allows any."""
    opening = line[:2].lstrip("\u200e\u200f\u202a\u202b\ufeff")
    if style != "dash" and opening.startswith("["):
        return build_header(_HEADERS["bracket"].match(line), "bracket")
    if style != "bracket" and (not opening or opening[0].isdecimal()):
        return build_header(_HEADERS["dash"].match(line), "dash")
    return None


def build_header(match: re.Match[str] | None, style: HeaderStyle) -> MessageHeader | None:
    """Build the header from a match, if its time is possible."""
    if match is None:
        return None
    hour = parse_hour(match)
    minute, second = int(match["minute"]), int(match["sec"] or 0)
    if hour is None or minute > 59 or second > 59:
        return None
    first, second_number, third = match["first"], match["second"], match["third"]
    return MessageHeader(
        style=style,
        time_text=match["written"],
        body=match["rest"],
        prefix=match.string[: match.end("third") + 1],
        numbers=(int(first), int(second_number), int(third)),
        year_position=0 if len(first) == 4 else 2 if len(third) == 4 else None,
        hour=hour,
        minute=minute,
        second=second,
    )


def parse_hour(match: re.Match[str]) -> int | None:
    """Return the hour from 0 to 23, from a 12-hour or 24-hour clock; None if it is impossible."""
    hour = int(match["hour"])
    morning = match["before_am"] or match["after_am"]
    evening = match["before_pm"] or match["after_pm"]
    if (morning or evening) and hour <= 12:
        return hour % 12 + (12 if evening else 0)
    return hour % 24 if hour <= 24 else None


LTR_MARK: Final = "\u200e"  # the iPhone puts it before text by WhatsApp
MAX_NAME_CHARS: Final = 100
MAX_NOTICE_CHARS: Final = 500
MAX_EDIT_MARK_CHARS: Final = 120
MAX_PLACEHOLDER_CHARS: Final = 60
OMITTED: Final = "omitted"

_DIRECTION_MARKS: Final = re.compile(r"[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_OMITTED_WORDS: Final = (
    r"omitted|omitid[oa]s?|weggelassen|ausgelassen|ausgeschlossen|absente?s?|omise?s?"
    r"|retirée?s?|manquante?s?|omess[oaie]|esclus[oaie]|non inclus[oaie]|ocultad[oa]s?"
    r"|ocult[oa]s?|não revelad[oa]|weggelaten|省略|忽略|略去|未包含|생략|제외"
    r"|пропущен\w*|без медиафайлов|pominięt\w*|含まれていません"
)
_MEDIA_WORDS: Final = (
    r"image|imagen|imagem|immagine|bild|afbeelding|photo|foto|v[ií]d[eé]o|[aá]udio|sticker"
    r"|autocollant|figurinha|gif|document[oe]?|dokument|图像|图片|圖片|視訊|视频|影片|音频|音訊"
    r"|语音|語音訊息|贴图|貼圖|文件|檔案|文档"
)
_OMITTED: Final = re.compile(
    rf"<[^<>\n]{{0,60}}(?:{_OMITTED_WORDS})[^<>\n]{{0,30}}>"  # <Media omitted>
    rf"|(?:{_MEDIA_WORDS})(?:\s|已)?(?:{_OMITTED_WORDS})\.?"  # image omitted
    rf"|(?:忽略|省略|略去)(?:{_MEDIA_WORDS})",
    re.I,
)
_OMITTED_AT_END: Final = re.compile(rf"(?:{_OMITTED_WORDS})\.?$", re.I)
_FILE: Final = r"(?P<file>[^\n<>:/\\|?*]{1,200}\.[A-Za-z0-9]{2,5})"
_FILE_NAME: Final = re.compile(_FILE)
_ATTACHED_FIRST: Final = re.compile(rf"{_FILE} \([^()\n]{{4,30}}\)(?=\n|$)")  # (file attached)
_ATTACHED: Final = re.compile(rf"<[^<>:：\n]{{2,25}}\s?[:：]\s?{_FILE}>")  # <attached: …>
_EDITED: Final = re.compile(
    r"\u200e?<[^<>\n]{0,40}(?:edited|edit[oóa]|editad[oa]|bearbeitet|modifiée?|modificat[oa]"
    r"|bewerkt|编辑|編輯|編集|изменено)[^<>\n]{0,20}>$",
    re.I,
)
_DELETED: Final = re.compile(
    r"(?:this message was deleted(?: by admin .*)?|you deleted this message(?: as admin)?"
    r"|(?:se eliminó|eliminaste) este mensaje|este mensaje fue eliminado"
    r"|(?:esta )?mensagem (?:foi )?(?:apagada|eliminada)"
    r"|(?:você )?(?:apagou|eliminou) (?:esta|essa) mensagem"
    r"|diese nachricht wurde gelöscht|du hast diese nachricht gelöscht"
    r"|ce message a été supprimé|(?:vous avez|tu as) supprimé ce message"
    r"|questo messaggio è stato eliminato|hai eliminato questo messaggio"
    r"|dit bericht (?:is|werd) verwijderd|(?:je|u) (?:hebt|heeft) dit bericht verwijderd"
    r"|(?:此|这条|該|这則)?(?:消息|訊息|讯息)已(?:被)?(?:删除|刪除)"
    r"|[你您]已?(?:删除|刪除)了?(?:此|这条|這則)?(?:消息|訊息|讯息))[.。]?",
    re.I,
)
_NOTICE: Final = re.compile(
    r"end-to-end|extremo a extremo|ende-zu-ende|bout en bout|ponta a ponta|端到端|端對端"
    r"|created (?:this )?group|(?:added|removed|left$|left the group)|joined (?:using|from|via)"
    r"|changed (?:the|this|their|to)|security code|is a contact|blocked this contact"
    r"|disappearing|missed (?:voice|video|group)|(?:voice|video) call"
    r"|(?:creó|creaste) (?:el|este) grupo|añadi(?:ó|ste)|agreg(?:ó|aste)|salió del grupo"
    r"|se unió|eliminó a|cambi(?:ó|aste)|código de seguridad|llamada"
    r"|gruppe .*erstellt|hinzugefügt|hat die gruppe verlassen|entfernt$|geändert"
    r"|sicherheitsnummer|anruf"
    r"|a créé|avez créé|a ajouté|avez ajouté|a quitté|a rejoint|a changé|a modifié l"
    r"|code de sécurité|appel (?:vocal|vidéo|manqué)"
    r"|ha creato|hai creato|ha aggiunto|hai aggiunto|ha abbandonato|ha cambiato"
    r"|codice di sicurezza|chiamata"
    r"|criou (?:o|este) grupo|adicionou|saiu(?: do grupo)?$|entrou usando|mudou|alterou"
    r"|código de segurança|(?:ligação|chamada) de"
    r"|heeft .*(?:groep|toegevoegd|gewijzigd|verlaten|verwijderd)|beveiligingscode|oproep"
    r"|创建了?|建立了?|添加了?|加入了?|退出了?|离开了?|離開|更改了?|变更|變更|安全码|安全碼"
    r"|通话|通話",
    re.I,
)
_RENAME_VERBS: Final = re.compile(
    r"\b(?:changed|created|cambi(?:ó|aste)|cre(?:ó|aste)|geändert|erstellt|a changé|a modifié"
    r"|a créé|ha cambiato|ha creato|ha modificato|mudou|alterou|criou|heeft|hat de[nr]|hat die)\b",
    re.I,
)
_RENAME_CHARS: Final = re.compile("[改建]")
_FORWARDED: Final = re.compile(
    r"\A\W*(?:forwarded(?: many times)?|reenviad[oa](?: muchas veces)?"
    r"|(?:oft |häufig )?weitergeleitet|transféré(?: de nombreuses fois| plusieurs fois)?"
    r"|inoltrato(?: molte volte)?|(?:re)?encaminhad[oa](?: com frequência| muitas vezes)?"
    r"|(?:vaak )?doorgestuurd|(?:已|多次)?(?:转发|轉寄|轉發)(?:多次)?)\W*\n",
    re.I,
)
_PUSH_NAME_PREFIX: Final = re.compile(r"^~\s?")


def split_speaker(rest: str) -> tuple[str, str] | None:
    """Split the text after a header into speaker and message; None for WhatsApp's own notices."""
    name, colon, text = rest.partition(":")
    if not colon or (text and not text[0].isspace()) or len(name) > MAX_NAME_CHARS:
        return None
    if "\n" in name or is_group_rename(name):
        return None
    speaker = _PUSH_NAME_PREFIX.sub("", _DIRECTION_MARKS.sub("", name).strip())
    return (speaker, text[1:]) if speaker else None


def is_group_rename(words: str) -> bool:
    """Return whether a text reports that somebody renamed a group, followed by the quoted name."""
    verb, han = _RENAME_VERBS.search(words), _RENAME_CHARS.search(words)
    return any(
        match and any(mark in words[match.end() :] for mark in marks)
        for match, marks in ((verb, "\"“”«»„'‘’"), (han, '"“「'))
    )


def is_system_notice(text: str) -> bool:
    """Return whether a text after a speaker's name is WhatsApp's: deleted, joined, a call."""
    if len(text) > MAX_NOTICE_CHARS:
        return False
    plain = text.replace(LTR_MARK, "").strip()
    if _DELETED.fullmatch(plain):
        return True
    return (
        text.lstrip(" ").startswith(LTR_MARK) and "\n" not in plain and bool(_NOTICE.search(plain))
    )


def is_forwarded(text: str) -> bool:
    """Return whether a text begins with WhatsApp's marker for forwarded messages."""
    return _FORWARDED.match(text) is not None


def strip_edit_mark(text: str) -> tuple[str, bool]:
    """Return the text without WhatsApp's edit marker, and whether it had one."""
    if not text.endswith(">"):
        return text, False
    mark = _EDITED.search(text, max(0, len(text) - MAX_EDIT_MARK_CHARS))
    return (text, False) if mark is None else (text[: mark.start()].rstrip(), True)


def find_media(text: str) -> Mapping[str, str]:
    """Return the media of a message: the file name, or that the file was omitted."""
    plain = text.replace(LTR_MARK, "").strip()
    attached = _ATTACHED_FIRST.match(plain) if " (" in plain else None
    if attached is None and "<" in plain:
        attached = _ATTACHED.search(plain)
    if attached is not None:
        return {"media": attached["file"].strip()}
    first_line = plain.partition("\n")[0]
    marked = text.lstrip(" ").startswith(LTR_MARK) and _OMITTED_AT_END.search(first_line)
    if marked or (len(first_line) <= 100 and _OMITTED.fullmatch(first_line)):
        return {"media": OMITTED}
    return {}


def is_placeholder(text: str, details: Mapping[str, str]) -> bool:
    """Return whether a text only says that media was omitted, without caption or file name."""
    plain = text.strip()
    is_bare = (
        len(plain) <= MAX_PLACEHOLDER_CHARS and "\n" not in plain and not _FILE_NAME.search(plain)
    )
    return details.get("media") == OMITTED and is_bare
