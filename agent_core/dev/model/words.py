"""Text as comparable words: identifiers split, light stems, Chinese by dictionary and pairs of characters."""

import re
from functools import lru_cache

from agent_core.dev.model.found import CJK, Found
from agent_core.dev.model.lexicon import HAN_STOP, HAN_WORDS, IDEAS, PHRASES, STOP_WORDS

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PIECE = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+")
_HAN_WORD = re.compile("|".join(map(re.escape, HAN_WORDS)))
_PHRASE = re.compile(
    "|".join(rf"\b{re.escape(p)}\b" if p.isascii() else re.escape(p) for p in sorted(PHRASES, key=len, reverse=True)),
    re.IGNORECASE | re.ASCII,
)


def words_of(text: str) -> list[str]:
    """The words of `text` that carry meaning; words of one idea (`compute`, `计算`) come out alike."""
    text = _PHRASE.sub(lambda m: " " + PHRASES[m.group().lower()] + " ", text)
    words: list[str] = []
    for piece in _PIECE.findall(_CAMEL.sub(" ", text)):
        words += _english(piece) if piece[0].isascii() or not _is_han(piece) else _chinese(piece)
    return words


def located(text: str) -> list[Found[str]]:
    """Each word of `text` as `words_of` gives it, stop words too, with its place."""
    found = []
    for match in _PIECE.finditer(text):
        if _is_han(match.group()):
            at = match.start()
            found += [Found(IDEAS[m.group()], at + m.start(), at + m.end()) for m in _HAN_WORD.finditer(match.group())]
        else:
            found.append(Found(_idea(match.group().lower()), match.start(), match.end()))
    return found


def _is_han(piece: str) -> bool:
    return re.match(f"[{CJK}]", piece) is not None


def _english(piece: str) -> list[str]:
    low = piece.lower()
    if low in STOP_WORDS or len(low) < 2 or low.isdigit():
        return []
    return [_idea(low)]


@lru_cache(maxsize=4096)
def _idea(word: str) -> str:
    return IDEAS.get(word) or _STEMMED.get(stem(word)) or stem(word)


def _chinese(run: str) -> list[str]:
    words = [IDEAS[m.group()] for m in _HAN_WORD.finditer(run)]
    for rest in _HAN_WORD.sub(" ", run).split():
        kept = "".join(c if c not in HAN_STOP else " " for c in rest).split()
        words += [k[i : i + 2] for k in kept for i in range(len(k) - 1)]
    return words


def stem(word: str) -> str:
    """Plural, -ing, -ed, -er and a final e off: `calculates`, `calculating`, `calculated` -> `calculat`."""
    if not word.isascii() or len(word) < 4:
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "shes", "ches", "xes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending, least in (("ing", 6), ("ed", 5)):
        if word.endswith(ending) and len(word) >= least:
            word = word[: -len(ending)]
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
                word = word[:-1]
            break
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


_STEMMED = {stem(word): idea for word, idea in IDEAS.items() if word.isascii()}
