"""Arithmetic in a text, in symbols or words, as one expression in symbols: `2357 乘以 4821` -> `2357 * 4821`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agent_core.dev.model import formulas, numbers
from agent_core.dev.model.found import Found

MAX_EXPRESSIONS = 64
MAX_EXPRESSION_TOKENS = 120

_OPERAND, _OPERATOR, _POSTFIX, _OPEN, _CLOSE, _COMMA = range(6)

_N = rf"(?:{numbers.PLAIN})"
_AND = r"\s*(?:,|and|and then|与|和|跟|、)\s*"
_FUNCTIONS = "sqrt|sin|cos|tan|log10|log2|log|ln|exp|abs|round|floor|ceil|min|max|pow|factorial"

# (pattern, kind, text); `{0}` and `{1}` stand for the numbers of the match. The first that matches wins.
_RULES: tuple[tuple[re.Pattern[str], int, str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE | re.ASCII), kind, text)
    for pattern, kind, text in (
        (rf"(?:the )?(?:sum|total) of ({_N}){_AND}({_N})", _OPERAND, "({0} + {1})"),
        (rf"(?:the )?product of ({_N}){_AND}({_N})", _OPERAND, "({0} * {1})"),
        (rf"(?:the )?difference (?:between|of) ({_N}){_AND}({_N})", _OPERAND, "({0} - {1})"),
        (rf"(?:the )?quotient of ({_N}){_AND}({_N})", _OPERAND, "({0} / {1})"),
        (rf"({_N}){_AND}({_N})\s*(?:的|之)和", _OPERAND, "({0} + {1})"),
        (rf"({_N}){_AND}({_N})\s*(?:的|之)(?:乘积|积)", _OPERAND, "({0} * {1})"),
        (rf"({_N}){_AND}({_N})\s*(?:的|之)差", _OPERAND, "({0} - {1})"),
        (rf"({_N}){_AND}({_N})\s*(?:的|之)商", _OPERAND, "({0} / {1})"),
        (rf"(?:the )?(?:square root of|sqrt of|√)\s*({_N})", _OPERAND, "({0} ** 0.5)"),
        (rf"({_N})\s*的平方根", _OPERAND, "({0} ** 0.5)"),
        (rf"({_N})\s*(?:%|percent)\s*of\s*({_N})", _OPERAND, "({1} * {0} / 100)"),
        (rf"({_N})\s*的\s*({_N})\s*%", _OPERAND, "({0} * {1} / 100)"),
        (rf"({_N})\s*的\s*({_N})\s*次方", _OPERAND, "({0} ** {1})"),
        (rf"\b(?:{_FUNCTIONS})\s*\(", _OPEN, ""),
        (numbers.PLAIN, _OPERAND, ""),
        (r"\*\*|\^|(?:raised )?to the power(?: of)?\b|raised to\b", _OPERATOR, "**"),
        (r"squared\b|的平方", _POSTFIX, " ** 2"),
        (r"cubed\b|的立方", _POSTFIX, " ** 3"),
        (r"\*|×|·|multiplied by\b|times\b|乘以|乘上|乘", _OPERATOR, "*"),
        (r"x(?=\s*[\d(])", _OPERATOR, "*"),
        (r"//", _OPERATOR, "//"),
        (r"/|÷|divided by\b|除以", _OPERATOR, "/"),
        (r"\+|plus\b|加上|加", _OPERATOR, "+"),
        (r"[-−–]|minus\b|减去|减", _OPERATOR, "-"),
        (r"%(?=\s*[\d(])|mod(?:ulo)?\b", _OPERATOR, "%"),
        (r"%", _POSTFIX, " / 100"),
        (r"\(", _OPEN, "("),
        (r"\)", _CLOSE, ")"),
        (r",", _COMMA, ","),
    )
)
_DIGITS = re.compile(r"[0-9]+|[零〇一二两三四五六七八九十百千万亿]+")
_SPACE = re.compile(r"[ \t]+")
_ENGLISH = re.compile(numbers.ENGLISH, re.IGNORECASE | re.ASCII)
_CHINESE = re.compile(numbers.CHINESE)


@dataclass(frozen=True, slots=True)
class _Token:
    kind: int
    text: str
    start: int
    end: int
    computes: bool  # already an operation in itself, such as `square root of 16`


def find(text: str) -> list[Found[str]]:
    """The expressions of `text`: at least one operation each, balanced, numbers without commas.

    One that stands in a formula with parts unknown here is given as the whole of it, as written.
    """
    found: list[Found[str]] = []
    seen = tried = 0
    for run in _runs(text):
        first = 0
        while first < len(run) and tried < MAX_EXPRESSIONS:
            length = _longest(run[first : first + MAX_EXPRESSION_TOKENS])
            kept = run[first : first + length]
            first += length or 1
            if kept and kept[0].start >= seen:
                tried += 1
                span, clear = formulas.whole(text, kept[0].start, kept[-1].end)
                found += [_in_full(text, kept, span)] if clear else []
                seen = span[1]
    return found


def _in_full(text: str, kept: list[_Token], span: formulas.Span) -> Found[str]:
    """The expression; as it is written where it is part of a formula that is not understood as a whole."""
    alone = span == (kept[0].start, kept[-1].end)
    return Found(_render(kept) if alone else text[slice(*span)].strip(), *span)


def _runs(text: str) -> Iterator[list[_Token]]:
    """Tokens that follow one another with nothing but blanks between; each place of `text` is looked at once."""
    run: list[_Token] = []
    at = 0
    while at < len(text):
        follows = bool(run) and run[-1].end == at
        token = _token(text, at) if follows or not _is_within_word(text, at) else None
        space = _SPACE.match(text, at) if token is None and run else None
        if token is not None:
            run.append(token)
            at = token.end
        elif space:
            at = space.end()
        else:
            yield run
            run = []
            digits = _DIGITS.match(text, at)  # a number too long to compute with is passed as a whole
            at = digits.end() if digits else at + 1
    yield run


def _is_within_word(text: str, at: int) -> bool:
    """Whether a letter stands right before: `v2` holds no number."""
    before = text[at - 1 : at]
    return (before.isascii() and (before.isalpha() or before == "_")) and text[at].isascii() and text[at].isalnum()


def _token(text: str, at: int) -> _Token | None:
    for pattern, kind, shape in _RULES:
        match = pattern.match(text, at)
        if match:
            return _make(match, kind, shape)
    for pattern, read in ((_ENGLISH, numbers.english), (_CHINESE, numbers.chinese)):
        match = pattern.match(text, at)
        value = read(match.group()) if match else None
        if match and value is not None:
            return _Token(_OPERAND, str(value), match.start(), match.end(), computes=False)
    return None


def _make(match: re.Match[str], kind: int, shape: str) -> _Token | None:
    computes = bool(match.groups())
    if computes:
        operands = [g.replace(",", "") for g in match.groups()]
        if any(len(operand) > numbers.MAX_DIGITS for operand in operands):
            return None
        written = shape.format(*operands)
    else:
        if kind == _OPERAND and len(match.group()) > numbers.MAX_DIGITS:
            return None
        written = shape or match.group().replace(",", "").replace(" ", "").lower()
    return _Token(kind, written, match.start(), match.end(), computes=computes)


def _longest(tokens: list[_Token]) -> int:
    """How many tokens make the longest complete expression with an operation; 0: none."""
    best, operations, wants_operand = 0, 0, True
    stack: list[bool] = []  # for each open bracket: whether a function's
    for count, token in enumerate(tokens, 1):
        if wants_operand:
            if token.kind == _OPEN:
                stack.append(len(token.text) > 1)
                operations += len(token.text) > 1
            elif token.kind == _OPERAND:
                wants_operand = False
                operations += token.computes
            elif not (token.kind == _OPERATOR and token.text == "-" and _may_sign(tokens, count - 1)):
                break
        elif token.kind == _OPERATOR:
            wants_operand = True
            operations += 1
        elif token.kind == _POSTFIX:
            operations += 1
        elif token.kind == _CLOSE and stack:
            stack.pop()
        elif token.kind == _COMMA and stack and stack[-1]:
            wants_operand = True
        else:
            break
        if not wants_operand and not stack and operations:
            best = count
    return best


def _may_sign(tokens: list[_Token], index: int) -> bool:
    """A sign stands at the start or after an opening or one operator, never after another sign."""
    return index == 0 or tokens[index - 1].kind in (_OPEN, _COMMA) or tokens[index - 1].text in ("*", "/", "**")


def _render(tokens: list[_Token]) -> str:
    if len(tokens) == 1 and tokens[0].computes:
        return tokens[0].text[1:-1]
    written = ""
    wants_operand = True
    for token in tokens:
        if token.kind == _OPERATOR and not wants_operand:
            written += f" {token.text} "
        elif token.kind == _COMMA:
            written += ", "
        else:
            written += token.text
        wants_operand = token.kind in (_OPERATOR, _OPEN, _COMMA)
    return written
