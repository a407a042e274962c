import json
import math
from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_services.calculator.answer import answer
from skill_services.calculator.evaluation import MAX_LENGTH, evaluate
from skill_services.calculator.failures import CalculationError
from skill_services.calculator.functions import CONSTANTS, FUNCTIONS
from skill_services.calculator.notation import rewrite
from skill_services.calculator.skill import calculate, summarize_numbers
from skill_services.calculator.summary import summarize
from skill_services.sdk.testing import InvalidArguments, SkillTester


def result(expression: str) -> int | float | None:
    return answer(*evaluate(expression))["result"]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("2357*4821", 11363097),
        ("2357 × 4821", 11363097),
        ("计算 2357 乘以 4821", 11363097),
        ("What is 12 * 7?", 84),
        ("12*7=", 84),
        ("１２÷３", 4),
        ("（１＋２）×３", 9),
        ("7 − 10", -3),
        ("2^10", 1024),
        ("2**3**2", 512),
        ("2的10次方", 1024),
        ("5²", 25),
        ("2⁻¹", 0.5),
        ("3 的平方", 9),
        ("16的平方根", 4),
        ("square root of 16", 4),
        ("√16 + ∛27", 7),
        ("½ * 8", 4),
        ("3 x 4", 12),
        ("0 x 5", 0),
        ("0x10 + 1", 17),
        ("1,234 + 1", 1235),
        ("1,234,567.89 + 0.11", 1234568),
        ("max(1,234)", 234),
        ("sqrt((1,225))", 35),
        ("007 + 1", 8),
        ("12 divided by 5", 2.4),
        ("3 plus 4 minus 5 times 2", -3),
        ("2 squared plus 2 cubed", 12),
        ("10 % 3", 1),
        ("-7 // 2", -4),
        ("10 % -3", -2),
        ("17 mod 5", 2),
        ("15% of 80", 12),
        ("百分之15 * 80", 12),
        ("200的15%", 30),
        ("50% of 20% of 400", 40),
        ("100 * 5%", 5),
        ("5!", 120),
        ("+".join(["1"] * 500), 500),
        ("-(-3)", 3),
    ],
)
def test_what_people_write_is_calculated_exactly(expression: str, expected: float) -> None:
    found = result(expression)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("0.1 + 0.2", 0.3),
        ("(1/3) * 3", 1),
        ("10/4", 2.5),
        ("1.1 ** 2", 1.21),
        ("round(2.675, 2)", 2.68),
        ("round(2.5)", 3),
        ("round(-2.5)", -3),
        ("round(1234, -2)", 1200),
        ("round(sqrt(2), 3)", 1.414),
        ("sin(pi)", 0),
        ("sin(radians(30))", 0.5),
        ("sin(30 degrees) + log10(1000)", 3.5),
        ("sin(30°) * cos( -60 deg )", 0.25),
        ("tan(45度)", 1),
        ("degrees(pi)", 180),
        ("cos(0)", 1),
        ("tan(0)", 0),
        ("atan2(1, 1) * 4 / pi", 1),
        ("log(e)", 1),
        ("log(8, 2)", 3),
        ("log(1000, 10)", 3),
        ("log(81, 3)", 4),
        ("ln(1)", 0),
        ("log10(1000)", 3),
        ("log2(0.5)", -1),
        ("cbrt(27)", 3),
        ("sqrt(0.25)", 0.5),
        ("sqrt(sqrt(2) ** 2)", 1.4142135623731),
        ("hypot(3, 4)", 5),
        ("gcd(12, 18) + lcm(4, 6)", 18),
        ("comb(5, 2) + perm(5, 2)", 30),
        ("factorial(0)", 1),
        ("min(3, 1.5) + max(2, 7)", 8.5),
        ("sum(1, 2, 3.5)", 6.5),
        ("sum(sqrt(4.0), sqrt(2) ** 2)", 4),
        ("mean(1, 2)", 1.5),
        ("floor(-1.5) + ceil(1.2) + trunc(2.9)", 2),
        ("abs(-3)", 3),
        ("pow(2, 0.5) ** 2", 2),
        ("exp(0)", 1),
        ("mod(10, 3)", 1),
        ("7.5 // 2", 3),
        ("sqrt(2) // 1", 1),
        ("sqrt(2) % 1", 0.414213562373095),
        ("sqrt(2) / sqrt(2)", 1),
        ("0 ** 0", 1),
        ("(-2) ** 3", -8),
        ("1.0000001 ** 100000000", 22026.4549101825),
        ("+2", 2),
    ],
)
def test_decimals_and_functions_give_what_a_person_expects(expression: str, expected: float) -> None:
    assert result(expression) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("", "empty"),
        ("=", "empty"),
        ("1/0", "Division by zero"),
        ("5 % 0", "Division by zero"),
        ("5 // 0", "Division by zero"),
        ("0 ** -1", "Zero cannot"),
        ("9**9**9", "too large"),
        ("2**1000000000", "too large"),
        ("10**4000 * 10**4000", "too large"),
        ("1e999", "too large"),
        ("1e99999999", "too large"),
        ("exp(1000)", "too large"),
        ("e ** 1000", "too large"),
        ("10**3000 + 0.5", "too large"),
        ("10**3000 * sqrt(2)", "too large"),
        ("factorial(1001)", "0 to 1000"),
        ("factorial(2.5)", "whole number"),
        ("comb(5, -1)", "whole number"),
        ("gcd(1.5, 2)", "whole numbers"),
        ("(-8) ** (1/3)", "not a real number"),
        ("sqrt(-1)", "negative"),
        ("log(0)", "positive"),
        ("log10(-1)", "positive"),
        ("log2(0)", "positive"),
        ("log(5, 1)", "positive"),
        ("asin(2)", "-1 to 1"),
        ("tan(pi/2)", "not defined"),
        ("round(2, 0.5)", "digits"),
        ("round(2, 101)", "digits"),
        ("10%-3", "unclear"),
        ("100 - 20%", "unclear"),
        ("5 +", "not a complete"),
        ("1 2", "not a complete"),
        ("2(3)", "multiplication sign"),
        ("2½", "multiplication sign"),
        ("1,23", "comma"),
        ("x + 1", "x is not a number"),
        ("foo(2)", "no function foo"),
        ("abs(1, 2)", "arguments"),
        ("min()", "argument"),
        ("1 << 3", "operators"),
        ("2 < 3", "Only numbers"),
        ("1 if 2 else 3", "Only numbers"),
        ("lambda: 1", "Only numbers"),
        ("(1).__class__", "Only numbers"),
        ("sqrt.__globals__", "Only numbers"),
        ("sqrt(x=4)", "equation"),
        ("sqrt(*(4))", "Only numbers"),
        ("[1 for i in (1)]", "Only numbers"),
        ("~1", "Only numbers"),
        ("True", "Only numbers"),
        ("1j", "Only numbers"),
        ("sqrt + 1", "sqrt is not a number"),
        ("__import__('os')", "quotes"),
        ("x = 3", "equation"),
        ("2 ♥ 3", "'♥'"),
        ("(" * 60 + "1" + ")" * 60 + "-" * 200 + "1", "deep"),
        ("(" * 400 + "1" + ")" * 400, "not a complete"),
        ("1" * (MAX_LENGTH + 1), "longer than"),
    ],
)
def test_what_has_no_answer_is_refused_in_a_sentence(expression: str, words: str) -> None:
    with pytest.raises(CalculationError) as refused:
        evaluate(expression)
    assert words in str(refused.value)
    assert len(str(refused.value)) < 400


@pytest.mark.timeout(10)
@pytest.mark.parametrize("end", ["", "9", "(", "的平方根", "%", "x"])
@pytest.mark.parametrize(
    "piece", ["9", "9.", "1,", "a(", "a", " ", "=", "==?", "*", "0", "²", "2次方", "√9", "5 percent of "]
)
def test_no_text_keeps_the_service_busy(piece: str, end: str) -> None:
    with suppress(CalculationError):
        evaluate((piece * MAX_LENGTH)[: MAX_LENGTH - len(end)] + end)


def test_whole_numbers_beyond_what_json_holds_exactly_come_as_text_too() -> None:
    assert answer("", 2**53) == {"expression": "", "result": 2**53}
    assert answer("", 2**53 + 1) == {"expression": "", "result": 2**53 + 1, "exact": str(2**53 + 1)}
    large = answer(*evaluate("2 ** 200"))
    assert (large["result"], large["exact"]) == (float(2**200), str(2**200))
    assert answer(*evaluate("10 ** 3000")) == {"expression": "10 ** 3000", "result": None, "exact": str(10**3000)}
    assert answer("", 1e16)["result"] == 1e16


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_text_gives_a_finite_number_or_a_sentence(text: str) -> None:
    with suppress(CalculationError):
        json.dumps(answer(*evaluate(text)), allow_nan=False)


_operand = st.integers(-1000, 1000).map(lambda n: f"({n})") | st.decimals(-1000, 1000, allow_nan=False, places=3).map(
    lambda d: f"({d})"
)


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from("+-*"), _operand), min_size=1, max_size=12), _operand)
def test_sums_and_products_equal_exact_rational_arithmetic(links: list[tuple[str, str]], first: str) -> None:
    expression = first + "".join(f" {operator} {operand}" for operator, operand in links)
    exact = eval(  # noqa: S307  # the expression is made of numbers and + - * alone
        " ".join(
            part if part in "+-*" else f"Fraction('{part.strip('()')}')"
            for part in [first, *(text for link in links for text in link)]
        ),
        {"Fraction": Fraction},
    )
    value = evaluate(expression)[1]
    assert Fraction(value) == exact


@settings(deadline=None)
@given(st.text(alphabet="0123456789+-*/%^()., xX×÷π²!e", max_size=40))
def test_rewriting_gives_ascii_or_a_sentence(text: str) -> None:
    with suppress(CalculationError):
        assert rewrite(text).isascii()


def test_every_function_and_constant_is_in_the_advice_to_the_model() -> None:
    hint = calculate.definition().llm_hint
    missing = [name for name in [*FUNCTIONS, *CONSTANTS] if name not in hint and name not in ("ln", "lg", "avg")]
    assert missing == []


def test_a_list_is_summarised_by_its_decimals() -> None:
    assert summarize([0.1, 0.3]) == {
        "count": 2,
        "sum": 0.4,
        "mean": 0.2,
        "median": 0.2,
        "min": 0.1,
        "max": 0.3,
        "deviation": pytest.approx(0.1),
        "sample_deviation": pytest.approx(0.1414213562),
    }
    assert summarize([7])["sample_deviation"] is None
    assert summarize([1, 2])["max"] == 2


@pytest.mark.parametrize("numbers", [[], [math.nan], [math.inf], [1e301]])
def test_a_list_without_a_summary_is_refused(numbers: list[float]) -> None:
    with pytest.raises(CalculationError):
        summarize(numbers)


async def test_the_skills_answer_as_the_mesh_calls_them() -> None:
    async with SkillTester([calculate, summarize_numbers]) as mesh:
        done = await mesh.call("calculate", {"expression": "2357 * 4821"})
        assert (done.status, done.text) == ("success", '{"expression":"2357 * 4821","result":11363097}')
        failed = await mesh.call("calculate", {"expression": "1/0"})
        assert (failed.status, failed.text) == ("failed", "Division by zero has no result.")
        summary = await mesh.call("summarize_numbers", {"numbers": [1, 2, 3]})
        assert isinstance(summary.value, dict)
        assert summary.value["mean"] == 2
        wide = await mesh.call("summarize_numbers", {"numbers": [1e301]})
        assert wide.status == "failed"
        with pytest.raises(InvalidArguments):
            await mesh.call("calculate", {"expression": "1" * (MAX_LENGTH + 1)})
        with pytest.raises(InvalidArguments):
            await mesh.call("summarize_numbers", {"numbers": []})
