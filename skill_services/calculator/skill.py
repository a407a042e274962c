"""The calculator's skills."""

from typing import Annotated, Final

from pydantic import Field

from skill_services.calculator.answer import Answer, answer
from skill_services.calculator.evaluation import MAX_LENGTH, evaluate
from skill_services.calculator.failures import CalculationError
from skill_services.calculator.summary import MAX_NUMBERS, Summary, summarize
from skill_services.sdk import SkillError, skill

VERSION: Final = "1.0.0"
_OWNER: Final = "skillmesh"
_CACHE_SECONDS: Final = 300.0


@skill(
    version=VERSION,
    access="observer",
    effect="read",
    timeout=5.0,
    cache_ttl=_CACHE_SECONDS,
    owner=_OWNER,
    change_note="First version.",
    tags=["math", "arithmetic", "calculator", "计算", "数学"],
    scenarios=[
        "What is 2357 * 4821?",
        "How much is 15% of 249.90?",
        "Compute the square root of 2 to the power of 10",
        "sin(30 degrees) + log10(1000)",
        "计算 2357 乘以 4821",
        "1234 除以 56 等于多少？",
        "2 的 20 次方是多少",
    ],
    examples=[
        ("What is 2357 times 4821?", {"expression": "2357 * 4821"}),
        ("240 的 15% 是多少？", {"expression": "240 * 15/100"}),
    ],
    llm_hint=(
        "Pass the whole expression at once rather than one operation a call. Operators: + - * / // (whole quotient) "
        "% (remainder, with the sign of the divisor) ** or ^ (power). Functions: abs round floor ceil trunc "
        "min max sum "
        "mean sqrt cbrt pow exp log (natural, or log(x, base)) log2 log10 mod gcd lcm factorial comb perm sin "
        "cos tan asin "
        "acos atan atan2 sinh cosh tanh hypot degrees radians; angles are radians, so write sin(radians(30)). "
        "Constants: "
        "pi e tau phi. round rounds halves away from zero. Thousands separators are fine outside functions."
    ),
)
async def calculate(
    expression: Annotated[
        str,
        Field(
            description="The arithmetic to do, such as '2357 * 4821', 'sqrt(2) ** 3', '15% of 80' or '12 × 7'.",
            examples=["2357 * 4821", "(3 + 4.5) / 2", "sqrt(2) * sin(radians(30))"],
            min_length=1,
            max_length=MAX_LENGTH,
        ),
    ],
) -> Answer:
    """Use when a number must be computed from an expression, however simple it looks.

    Evaluates arithmetic, powers, roots, logarithms, trigonometry, percentages and factorials, exactly for whole numbers
    and decimals. For the mean or deviation of a list of numbers use summarize_numbers, and for units of measure
    convert_units.
    """
    try:
        return answer(*evaluate(expression))
    except CalculationError as error:
        raise SkillError(str(error)) from None


@skill(
    version=VERSION,
    access="observer",
    effect="read",
    timeout=5.0,
    cache_ttl=_CACHE_SECONDS,
    owner=_OWNER,
    change_note="First version.",
    tags=["math", "statistics", "统计"],
    scenarios=[
        "What is the average of 3, 7, 8 and 12?",
        "Standard deviation of 10, 20, 30",
        "Give me the median of these response times: 120, 80, 95, 300",
        "求 3、7、8、12 的平均数",
        "这组数据的标准差和中位数是多少：10, 20, 30",
        "这些数字的总和、最大值和最小值",
    ],
    examples=[("Average of 3, 7 and 8?", {"numbers": [3, 7, 8]})],
)
def summarize_numbers(
    numbers: Annotated[
        list[Annotated[float, Field(allow_inf_nan=False)]],
        Field(
            description="The numbers, such as [3, 7.5, 12].",
            examples=[[3, 7.5, 12]],
            min_length=1,
            max_length=MAX_NUMBERS,
        ),
    ],
) -> Summary:
    """Use when a list of numbers must be summarised: its average, median, spread, sum, smallest or largest.

    Computes count, sum, mean, median, minimum, maximum, and the standard deviation of the population and of a sample.
    Unlike calculate, it takes a list and no expression.
    """
    try:
        return summarize(numbers)
    except CalculationError as error:
        raise SkillError(str(error)) from None
