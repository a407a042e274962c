"""What people write for arithmetic, rewritten to what Python parses: `12 × 7`, `１２÷３`, `2^10`, `1,234`, `15% of 80`.

Unicode's compatibility forms are not used for this: they would read 5² as 52 and 2½ as 21/2.
"""

import re
from typing import Final

from skill_services.calculator.failures import CalculationError

_FULL_WIDTH: Final = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_SYMBOLS: Final[dict[int, str]] = str.maketrans(
    {
        "×": "*",
        "✕": "*",
        "✖": "*",
        "⋅": "*",
        "·": "*",
        "∙": "*",
        "∗": "*",
        "÷": "/",
        "∕": "/",
        "⁄": "/",
        "−": "-",
        "–": "-",
        "—": "-",
        "﹣": "-",
        "➕": "+",
        "➖": "-",
        "➗": "/",
        "，": ",",
        "、": ",",
        "（": "(",
        "）": ")",
        "［": "(",
        "］": ")",
        "[": "(",
        "]": ")",
        "{": "(",
        "}": ")",
        "π": " pi ",
        "√": " sqrt",
        "∛": " cbrt",
        "\u3000": " ",
        "\u00a0": " ",
        "\u202f": " ",
        "\u2009": " ",
        "½": "(1/2)",
        "¼": "(1/4)",
        "¾": "(3/4)",
        "⅓": "(1/3)",
        "⅔": "(2/3)",
    }
)
_SUPERSCRIPTS: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
# possessive, and only from its first digit: a text of 2,000 digits must not cost the square of that
_NUMBER: Final = r"(?<![\d.])(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?"

_WORDS: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
    (re.compile(pattern, re.IGNORECASE), text)
    for pattern, text in (
        (r"^\s*(?:what(?:'s| is)|calculate|compute|evaluate|请?(?:计算|算一?下|求))\s*[:：]?", ""),
        (r"(?:=|\?|等于(?:多少|几)?|是多少|的结果|equals?)\s*", " = "),
        (r"\s*(?:multiplied by|times|乘以|乘上|乘)\s*", " * "),
        (r"\s*(?:divided by|over|除以)\s*", " / "),
        (r"\s*(?:to the power of|raised to)\s*", " ** "),
        (r"\s*的?\s*(\d+)\s*次方", r" ** \1"),
        (r"\s*(?:squared|的平方(?!根))", " ** 2"),
        (r"\s*(?:cubed|的立方(?!根))", " ** 3"),
        (r"\s*(?:plus|加上|加)\s*", " + "),
        (r"\s*(?:minus|减去|减)\s*", " - "),
        (r"\s*\b(?:modulo|mod)\b(?!\s*\()\s*|\s*取余数?\s*", " % "),
        # only where an angle is meant: elsewhere a degree may be one of temperature
        (rf"\b(sin|cos|tan)\s*\(\s*(-?{_NUMBER})\s*(?:degrees?|deg|°|度)\s*\)", r"\1(radians(\2))"),
        (rf"(?:the )?square root of\s*({_NUMBER})", r"sqrt(\1)"),
        (rf"({_NUMBER})\s*的平方根", r"sqrt(\1)"),
        (rf"({_NUMBER})\s*(?:percent|％)", r"\1%"),
        (rf"百分之\s*({_NUMBER})", r"\1%"),
        (rf"({_NUMBER})%\s*(?:of|的)\s*", r"\1% * "),
        (rf"(?<=[\d)])的(?=\s*{_NUMBER}%)", " * "),
        (r"(?<=[\d)])(?!(?<=\b0)[xX])\s*[xX]\s*(?=[\d(.])", " * "),  # but 0x1F is a number
    )
)
_ROOT: Final = re.compile(rf"\b(sqrt|cbrt)\s*({_NUMBER})")
_FACTORIAL: Final = re.compile(r"(?<![\w.])(\d+)\s*!(?!=)")
_PERCENT: Final = re.compile(rf"({_NUMBER})%(?=\s*(?:$|[),*/]))")
_UNCLEAR_PERCENT: Final = re.compile(rf"\d%\s*[+-]|[\w)]\s*[+-]\s*{_NUMBER}%\s*(?:$|[),])")
_LEADING_ZEROS: Final = re.compile(r"(?<![\w.])0+(?=\d)")
_SUPERSCRIPT_RUN: Final = re.compile(r"\s*([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
_GROUPED: Final = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d])")


def rewrite(text: str) -> str:
    """An ASCII expression that means the same. Raises CalculationError where the text is unclear."""
    text = _SUPERSCRIPT_RUN.sub(lambda m: f" ** {m[1].translate(_SUPERSCRIPTS)}", text)
    text = " ".join(text.translate(_FULL_WIDTH).translate(_SYMBOLS).split())
    for pattern, replacement in _WORDS:
        text = pattern.sub(replacement, text)
    text = _without_grouping(text.rstrip(" =").replace("^", "**"))
    text = _ROOT.sub(r"\1(\2)", text)
    text = _FACTORIAL.sub(r"factorial(\1)", text)
    text = _percentages(text)
    text = _LEADING_ZEROS.sub("", text)
    _refuse_what_is_left(text)
    return re.sub(r"\s+", " ", text).strip()


def _without_grouping(text: str) -> str:
    """Drop thousands separators; directly inside a function's parentheses a comma separates arguments instead."""
    pieces: list[str] = []
    in_function: list[bool] = []
    start = 0
    for position, character in enumerate(text):
        if character not in "()":
            continue
        pieces.append(_ungrouped(text[start:position], keep=bool(in_function) and in_function[-1]))
        pieces.append(character)
        start = position + 1
        if character == "(":
            in_function.append(_follows_name(text, position))
        elif in_function:
            in_function.pop()
    pieces.append(_ungrouped(text[start:], keep=bool(in_function) and in_function[-1]))
    return "".join(pieces)


def _follows_name(text: str, position: int) -> bool:
    end = position
    while end and text[end - 1].isspace():
        end -= 1
    start = end
    while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    return start < end and not text[start].isdigit()


def _ungrouped(text: str, *, keep: bool) -> str:
    return text if keep else _GROUPED.sub(lambda m: m[0].replace(",", ""), text)


def _percentages(text: str) -> str:
    if _UNCLEAR_PERCENT.search(text):
        raise CalculationError(
            "It is unclear what % means here; write 200 * (1 + 5/100) for five percent more, (5/100) for a percentage, "
            "or mod(10, 3) for a remainder."
        )
    return _PERCENT.sub(r"(\1/100)", text)


def _refuse_what_is_left(text: str) -> None:
    strange = next((c for c in text if not c.isascii()), None)
    if strange is not None:
        raise CalculationError(f"{strange!r} is not part of an expression; use digits, operators and function names.")
    if "=" in text:
        raise CalculationError("An equation cannot be solved here; give one expression without an equals sign.")
    if "'" in text or '"' in text:
        raise CalculationError("Text in quotes is not part of an expression; use numbers and operators.")
