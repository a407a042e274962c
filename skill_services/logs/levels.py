"""How grave a line is, by the words that logs use for it."""

import re
from enum import StrEnum
from typing import Final


class Level(StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """Higher is graver."""
        return _ORDER[self]


_ORDER: Final = {level: rank for rank, level in enumerate(Level)}
_WORDS: Final[dict[str, Level]] = {
    "trace": Level.DEBUG,
    "debug": Level.DEBUG,
    "dbug": Level.DEBUG,
    "fine": Level.DEBUG,
    "info": Level.INFO,
    "notice": Level.INFO,
    "information": Level.INFO,
    "warn": Level.WARNING,
    "warning": Level.WARNING,
    "error": Level.ERROR,
    "err": Level.ERROR,
    "severe": Level.ERROR,
    "fail": Level.ERROR,
    "critical": Level.CRITICAL,
    "crit": Level.CRITICAL,
    "fatal": Level.CRITICAL,
    "panic": Level.CRITICAL,
    "emerg": Level.CRITICAL,
    "alert": Level.CRITICAL,
}
_LETTERS: Final = {"I": Level.INFO, "W": Level.WARNING, "E": Level.ERROR, "F": Level.CRITICAL}
_NAMED: Final = re.compile(r"\"?\b(?:level|severity|lvl|levelname)\b\"?\s*[=:]\s*\"?([A-Za-z]+)", re.IGNORECASE)
_UPPER: Final = re.compile(
    r"\b(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|SEVERE|CRITICAL|CRIT|FATAL|PANIC|EMERG|ALERT)\b"
)
_BRACKETED: Final = re.compile(r"[\[<](" + "|".join(_WORDS) + r")[\]>]", re.IGNORECASE)
_LEADING: Final = re.compile(r"(?:^|: )(" + "|".join(_WORDS) + r")[:\s]", re.IGNORECASE)
_GLOG: Final = re.compile(r"([IWEF])\d{4} \d\d:\d\d:\d\d")
_STATUS: Final = re.compile(r"\] \"[^\"]*\" ([1-5])\d\d\b")
_WHERE: Final = 250  # characters in which a level is looked for; further on the word is part of a message


def level_of(line: str) -> Level | None:
    """The level that an entry's first line names; None where it names none.

    An access log's status stands for one: 5xx is an error, 4xx a warning, others are info.
    """
    if match := _STATUS.search(line):  # before words: a request's path may hold any of them
        return {"5": Level.ERROR, "4": Level.WARNING}.get(match[1], Level.INFO)
    head = line[:_WHERE]
    for pattern in (_NAMED, _UPPER, _BRACKETED, _LEADING):
        match = pattern.search(head)
        if match and (level := _WORDS.get(match[1].lower())):
            return level
    if match := _GLOG.match(head):
        return _LETTERS[match[1]]
    return None
