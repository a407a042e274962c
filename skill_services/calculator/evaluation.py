"""An expression to its value: simpleeval with nothing but arithmetic left in it, within bounds."""

import ast
import operator
from collections.abc import Callable
from typing import Final

from simpleeval import FeatureNotAvailable, FunctionNotDefined, InvalidExpression, SimpleEval

from skill_services.calculator import numbers
from skill_services.calculator.failures import CalculationError
from skill_services.calculator.functions import CONSTANTS, FUNCTIONS
from skill_services.calculator.notation import rewrite
from skill_services.calculator.numbers import Number

MAX_LENGTH: Final = 1_000
_MAX_NESTING: Final = 100
_MAX_DIGITS: Final = 3_900

_OPERATORS: Final[dict[type[ast.AST], Callable[..., Number]]] = {
    ast.Add: numbers.add,
    ast.Sub: numbers.subtract,
    ast.Mult: numbers.multiply,
    ast.Div: numbers.divide,
    ast.FloorDiv: numbers.floor_divide,
    ast.Mod: numbers.remainder,
    ast.Pow: numbers.power,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_NODES: Final = (ast.Expr, ast.Name, ast.UnaryOp, ast.BinOp, ast.Call, ast.Constant)


def evaluate(expression: str) -> tuple[str, Number]:
    """The expression as it was understood, and its value. Raises CalculationError."""
    if len(expression) > MAX_LENGTH:
        raise CalculationError(f"The expression is longer than {MAX_LENGTH} characters; split it into steps.")
    text = rewrite(expression)
    if not text:
        raise CalculationError("The expression is empty; give one such as 2 + 2.")
    tree = _parse(text)
    return text, _value(text, tree)


def _parse(text: str) -> ast.expr:
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise CalculationError(
            f"{_shown(text)} is not a complete arithmetic expression; check operators and parentheses, "
            "and write every multiplication sign."
        ) from None
    _refuse_deep(tree.body)
    return tree.body


def _refuse_deep(tree: ast.expr) -> None:
    waiting: list[tuple[ast.AST, int]] = [(tree, 1)]
    while waiting:
        node, depth = waiting.pop()
        if depth > _MAX_NESTING:
            raise CalculationError(f"The expression is nested more than {_MAX_NESTING} deep; split it into steps.")
        if isinstance(node, ast.Call) and not isinstance(node.func, ast.Name):
            raise CalculationError("A multiplication sign is missing before a parenthesis; write 2*(3+4), not 2(3+4).")
        if isinstance(node, ast.Tuple):
            raise CalculationError("A comma may group thousands, as in 1,234, or separate a function's arguments.")
        for child in ast.iter_child_nodes(node):
            chained = isinstance(node, ast.BinOp) and child is node.left
            waiting.append((child, depth if chained else depth + 1))


def _value(text: str, tree: ast.expr) -> Number:
    evaluator = SimpleEval(operators=_OPERATORS, functions=FUNCTIONS, names=CONSTANTS)
    evaluator.nodes = {kind: evaluator.nodes[kind] for kind in _NODES}
    evaluator.nodes[ast.Name] = _constant
    evaluator.nodes[ast.Constant] = lambda node: _literal(text, node)
    evaluator.nodes[ast.BinOp] = lambda node: _chain(evaluator, node)
    try:
        return numbers.settle(evaluator.eval(text, previously_parsed=tree))
    except FunctionNotDefined as error:
        known = ", ".join(sorted(FUNCTIONS))
        raise CalculationError(f"There is no function {error.func_name}; there are {known}.") from None
    except TypeError:
        raise CalculationError(
            "A function has the wrong number of arguments; inside functions write numbers without thousands separators."
        ) from None
    except (FeatureNotAvailable, InvalidExpression):
        raise CalculationError("Only numbers, + - * / // % **, parentheses and functions may be used.") from None
    except (OverflowError, RecursionError):
        raise CalculationError("The calculation is too large; split it into steps.") from None


def _chain(evaluator: SimpleEval, node: ast.BinOp) -> Number:
    """A chain such as 1 + 2 + ... + 500 without a Python frame for each of its links."""
    links: list[ast.BinOp] = []
    first: ast.expr = node
    while isinstance(first, ast.BinOp):
        links.append(first)
        first = first.left
    value: Number = evaluator.eval("", previously_parsed=first)
    for link in reversed(links):
        apply = _OPERATORS.get(type(link.op))
        if apply is None:
            raise CalculationError("Of operators there are + - * / // % and ** (or ^) for powers.")
        value = apply(value, evaluator.eval("", previously_parsed=link.right))
    return value


def _constant(node: ast.Name) -> Number:
    if node.id not in CONSTANTS:
        raise CalculationError(f"{node.id} is not a number; the constants are {', '.join(sorted(CONSTANTS))}.")
    return CONSTANTS[node.id]


def _literal(text: str, node: ast.Constant) -> Number:
    if type(node.value) not in (int, float):
        raise CalculationError("Only numbers may be calculated with.")
    source = text[node.col_offset : node.end_col_offset].replace("_", "")
    if len(source) > _MAX_DIGITS:
        raise CalculationError("A number has too many digits.")
    return node.value if isinstance(node.value, int) else numbers.literal(source)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:77] + "...")
