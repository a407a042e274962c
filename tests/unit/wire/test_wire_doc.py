from pathlib import Path

from skillmesh.errors import RULES

DOC = Path(__file__).parents[3] / "docs" / "wire.md"


def test_the_documented_table_of_errors_is_the_real_one() -> None:
    table = DOC.read_text(encoding="utf-8").partition("<!-- errors:begin -->")[2].partition("<!-- errors:end -->")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.strip().splitlines()[2:]]

    def word(*, flag: bool) -> str:
        return "yes" if flag else ""

    assert rows == [
        [
            kind.value.upper(), rule.status, rule.fault, rule.ran,
            word(flag=rule.retryable), word(flag=rule.breaker), word(flag=rule.instance),
        ]
        for kind, rule in RULES.items()
    ]  # fmt: skip
