"""check_coverage.py REPORT PERCENT FOLDER...: fail where a folder's branches are covered less than that."""

import json
import sys
from pathlib import Path


def branches(report: dict[str, dict[str, dict[str, dict[str, int]]]], folder: str) -> tuple[int, int]:
    """Covered and all branches of the files below a folder."""
    summaries = [data["summary"] for name, data in report["files"].items() if name.startswith(f"{folder}/")]
    return sum(s["covered_branches"] for s in summaries), sum(s["num_branches"] for s in summaries)


def main() -> int:
    report_path, percent, *folders = sys.argv[1:]
    report = json.loads(Path(report_path).read_text(encoding="utf-8"))
    failed = 0
    for folder in folders:
        covered, total = branches(report, folder)
        share = 100 * covered / total if total else 0.0
        failed += share < float(percent)
        sys.stdout.write(f"{folder}: {share:.1f} % of {total} branches covered (at least {percent} %)\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
