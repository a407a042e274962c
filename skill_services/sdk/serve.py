"""The entry of a skill process: settings, logging, event loop, exit code."""

import asyncio
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Final

from skill_services.sdk.address import PortError
from skill_services.sdk.ending import Ending
from skill_services.sdk.errors import SkillDefinitionError
from skill_services.sdk.lifecycle import Service
from skill_services.sdk.logs import log_to_stderr
from skill_services.sdk.settings import ServiceSettings, SettingsError, load_settings
from skill_services.sdk.skill import BaseSkill

_EXIT_WRONG_SETTINGS: Final = 2
_EXIT_CANNOT_START: Final = 1
_EXIT_INTERRUPTED: Final = 128 + signal.SIGINT


def serve(
    name: str, skills: Sequence[BaseSkill], *, version: str = "0.0.0", settings: ServiceSettings | None = None
) -> None:
    """Serve `skills` as the service `name` until SIGTERM or SIGINT; then drain and return.

    Settings come from the environment unless given. A second signal ends the process at once.

    Raises:
        SystemExit: 2 where a setting, the name or a skill's declaration is wrong, 1 where the port cannot be opened,
            130 where it is interrupted before it serves; stderr has a sentence for each problem.
    """
    try:
        settings = settings or load_settings()
        log_to_stderr(name, settings.log_level)
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            ending = runner.run(_run(name, skills, version, settings))
        ending.done()
    except SettingsError as error:
        _say_and_exit(error.problems, _EXIT_WRONG_SETTINGS)
    except SkillDefinitionError as error:
        _say_and_exit((str(error),), _EXIT_WRONG_SETTINGS)
    except PortError as error:
        _say_and_exit((str(error),), _EXIT_CANNOT_START)
    except KeyboardInterrupt:  # Ctrl-C before the service itself listens to it
        raise SystemExit(_EXIT_INTERRUPTED) from None


async def run_service(
    name: str, skills: Sequence[BaseSkill], *, version: str = "0.0.0", settings: ServiceSettings | None = None
) -> None:
    """As `serve`, within a running event loop: returns after a signal and the drain.

    Raises:
        SettingsError: a setting is wrong.
        PortError: the port cannot be opened.
        SkillDefinitionError: the name or a skill's declaration is wrong.
    """
    ending = await _run(name, skills, version, settings or load_settings())
    ending.done()


async def _run(name: str, skills: Sequence[BaseSkill], version: str, settings: ServiceSettings) -> Ending:
    ending = Ending(settings.grace_seconds, settings.parent_pid)
    service = Service(name, skills, version=version, settings=settings, own_tracing=True)
    with ending.on_signals():
        await service.start()
        try:
            await ending.asked()
        finally:
            ending.begin()
            await service.drain()
    return ending


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop  # optional: comes with the `skill` extra, not on Windows
    except ImportError:
        return None
    return uvloop.new_event_loop


def _say_and_exit(problems: tuple[str, ...], code: int) -> None:
    for problem in problems:
        sys.stderr.write(f"{problem}\n")
    raise SystemExit(code)
