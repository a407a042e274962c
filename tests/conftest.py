"""What holds for every test."""

import os

import pytest

MUST_RUN = "SKILLMESH_TESTS_MUST_RUN"


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where everything must run, as in CI, a skipped test is a failure: a missing tool never passes unseen."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get(MUST_RUN) and reporter is not None and reporter.stats.get("skipped"):
        reporter.write_line(f"{MUST_RUN} is set, and {len(reporter.stats['skipped'])} tests were skipped", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
