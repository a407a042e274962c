"""Quoted text, file names, and names that a preposition or the name of a parameter introduces."""

import re
from collections.abc import Collection

from agent_core.dev.model.found import CJK, Found, before
from agent_core.dev.model.lexicon import HAN_STOP, STOP_WORDS
from agent_core.dev.model.words import located

_QUOTED = re.compile(
    r"\"([^\"\n]{1,2000})\"|“([^”\n]{1,2000})”|「([^」\n]{1,2000})」|『([^』\n]{1,2000})』|《([^》\n]{1,2000})》"
    r"|`([^`\n]{1,2000})`|‘([^’\n]{1,2000})’|(?<![\w])'([^'\n]{1,2000})'(?!\w)"
)
_FILE = re.compile(
    r"(?<![\w.@/:-])(?:~?/[\w.@+-]+(?:/[\w.@+-]+)*/?|\.{1,2}/[\w./@+-]+|[A-Za-z]:\\[\w.\\-]+"
    r"|[\w@+-]+(?:[/.][\w@+-]+)*\.[A-Za-z][A-Za-z0-9]{0,5}(?:\.\d{1,2})?|/)(?![\w/])",
    re.ASCII,
)
_NOT_FILE = re.compile(r"(?:[a-z]\.)+[a-z]?|[ap]\.m|.*\.(?:com|org|net|io|cn)|https?.*|.*\d[a-z]?|[A-Z]\.[A-Z].*")
_URL = re.compile(r"https?://[^\s<>\"'，。；）)]+", re.IGNORECASE)
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.ASCII)
_WORD = r"[A-Za-z0-9\u00c0-\u024f][\w\u00c0-\u024f&'./-]*"
_AFTER_PREPOSITION = re.compile(
    rf"\b(?P<by>in|at|for|of|to|from|near|into|on|with|named|called)\s+(?:the\s+|a\s+|an\s+)?(?P<name>{_WORD}(?:\s+{_WORD}){{0,3}})",
    re.IGNORECASE | re.ASCII,
)
_CAPITALISED = re.compile(r"\b[A-Z][\w&'-]*(?:\s+(?:[A-Z][\w&'-]*|of|de|la))*(?<!\sof)(?<!\sde)(?<!\sla)")
_HAN_PLACE = re.compile(
    rf"([{CJK}]{{2,8}}?)(?:现在|此刻|当前|目前|今天|明天|后天|昨天|这周|本周|下周|的时间|时间|几点|的天气|天气|的气温|气温)"
)
_NO_HAN_NAME = re.compile("什么|哪|几|多少|起止|这里|那里|本地|当地")
_HAN_LEAD = re.compile(
    r"^(?:请问|请|告诉我|帮我|给我|查询|查一下|查查|查|看看|看一下|看|我想知道|想知道|知道|那么|那|还有|以及|和|在|的|一下|显示)+"
)
_VALUE_AFTER = re.compile(r"\s*(?:is\b|=|:|是|为)?\s*(?P<value>[A-Za-z0-9][\w.@/-]*)", re.ASCII | re.IGNORECASE)
_VALUE_BEFORE = re.compile(
    r"(?:\b(?:the|a|an|this|my|our)\s+|^|[^\x00-\x7f]\s*)(?P<value>[A-Za-z0-9][\w.@-]*)\s*(?:的\s*)?$",
    re.ASCII | re.IGNORECASE,
)
_HAN_QUALIFIER = re.compile(rf"(?P<value>(?:(?![{''.join(sorted(HAN_STOP))}些种类出])[{CJK}]){{2,4}})(?:的)?$")
_END_OF_NAME = STOP_WORDS | {"right", "now", "today", "tomorrow", "yesterday", "tonight", "time", "weather", "?"}


def quoted(text: str) -> list[Found[str]]:
    """Text in quotation marks, without them; the positions include them."""
    found = []
    for match in _QUOTED.finditer(text):
        inner = next(g for g in match.groups() if g is not None)
        if inner.strip():
            found.append(Found(inner, match.start(), match.end()))
    return found


def files(text: str) -> list[Found[str]]:
    """Paths and names with an extension; no numbers, hosts or abbreviations."""
    found = []
    for match in _FILE.finditer(text):
        written = match.group()
        end = match.end()
        if not _NOT_FILE.fullmatch(written) or written.startswith(("/", "~", "./", "../")):
            found.append(Found(written, match.start(), end))
    return found


def addresses(text: str) -> tuple[list[Found[str]], list[Found[str]]]:
    """URLs and e-mail addresses."""
    return (
        [
            Found(m.group().rstrip(".,;!?"), m.start(), m.start() + len(m.group().rstrip(".,;!?")))
            for m in _URL.finditer(text)
        ],
        [
            Found(m.group().rstrip("."), m.start(), m.start() + len(m.group().rstrip(".")))
            for m in _EMAIL.finditer(text)
        ],
    )


def after_preposition(text: str, prepositions: str) -> list[Found[str]]:
    """Names after one of `prepositions` (blank-separated): `in New York right now` -> New York."""
    wanted = set(prepositions.split())
    found = []
    at = 0
    while match := _AFTER_PREPOSITION.search(text, at):
        at = match.start("name")
        if match["by"].lower() not in wanted:
            continue
        name = _name_of(match["name"])
        if name:
            found.append(Found(name, match.start("name"), match.start("name") + len(name)))
            at += len(name)
    return found


def _name_of(written: str) -> str:
    """The words up to the first that no name contains; capitals, where there are any, decide."""
    kept: list[str] = []
    capitals = written[0].isupper()
    for word in re.split(r"(?<=\S)(?=\s)", written):
        bare = word.strip().strip(".,'?!")
        if not bare or bare.lower() in _END_OF_NAME or (kept and capitals and not bare[0].isupper()):
            break
        kept.append(word)
        if word.strip() != bare or (not capitals and len(kept) == 2):
            break
    return "".join(kept).rstrip(" .,'?!/-")


def proper_names(text: str) -> list[Found[str]]:
    """Capitalised words, but not the first word of a sentence alone."""
    found = []
    for match in _CAPITALISED.finditer(text):
        lead = before(text, match.start()).rstrip()
        starts = not lead or lead[-1] in ".?!:。？！\n"
        if not (starts and " " not in match.group()) and match.group().lower() not in STOP_WORDS:
            found.append(Found(match.group(), match.start(), match.end()))
    return found


def chinese_places(text: str) -> list[Found[str]]:
    """What stands before 现在, 的时间, 天气 and the like."""
    found = []
    for match in _HAN_PLACE.finditer(text):
        name = _HAN_LEAD.sub("", match.group(1)).rstrip("的在")
        if len(name) >= 2 and not _NO_HAN_NAME.search(name):
            start = match.start(1) + match.group(1).rfind(name)
            found.append(Found(name, start, start + len(name)))
    return found


def beside_words(text: str, words: Collection[str]) -> list[Found[str]]:
    """What the name of a parameter introduces or ends: `room 12A`, `user: alice`, `the payments service`.

    `words` are as `words_of` gives them, so that `服务 payments` serves a parameter called `service`.
    """
    after, ahead = [], []
    for word in located(text):
        if word.value not in words:
            continue
        following = _VALUE_AFTER.match(text, word.end)
        if following and _names_something(following["value"], words):
            value = following["value"].rstrip(".-/")
            after.append(Found(value, following.start("value"), following.start("value") + len(value)))
        preceding = _VALUE_BEFORE.search(before(text, word.start))
        if preceding and _names_something(preceding["value"], words):
            start = max(0, word.start - len(preceding.string)) + preceding.start("value")
            ahead.append(Found(preceding["value"], start, start + len(preceding["value"])))
    return after + ahead


def qualifiers(text: str, words: Collection[str]) -> list[Found[str]]:
    """What stands right before one of `words`: `the pressure units` -> pressure, `哪些重量单位` -> 重量."""
    found = []
    for word in located(text):
        lead = before(text, word.start)
        match = (_VALUE_BEFORE if text[word.start].isascii() else _HAN_QUALIFIER).search(lead)
        if word.value in words and match and _names_something(match["value"], words):
            start = word.start - len(lead) + match.start("value")
            found.append(Found(match["value"], start, start + len(match["value"])))
    return found


def _names_something(value: str, words: Collection[str]) -> bool:
    ideas = {f.value for f in located(value)}
    return value.lower() not in _END_OF_NAME and not ideas & set(words)
