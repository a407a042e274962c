"""Exit codes of the command line, and the one place where an error becomes one."""

import sys
from collections.abc import Callable
from enum import IntEnum

from agent_core.app.streams import abandon_output
from agent_core.app.text import plain
from agent_core.domain.errors import ConfigError, ModelError, RegistryError, SkillmeshError

_AGENT_PACKAGES = {
    "aiohttp",
    "cachetools",
    "consul",
    "dateparser",
    "httpx2",
    "openai",
    "opentelemetry",
    "pybreaker",
    "uvloop",
}


class Exit(IntEnum):
    """What a script may rely on."""

    OK = 0
    NO_RESULT = 1  # the question or call ended without a result
    USAGE = 2  # a wrong option, setting or file
    UNREACHABLE = 3  # the registry or the model endpoint cannot be reached
    INTERRUPTED = 130  # Ctrl-C


def guarded(command: Callable[[], None]) -> int:
    """Run a command; what it raises becomes one sentence on stderr and an exit code."""
    try:
        try:
            command()
        finally:
            sys.stdout.flush()
    except SkillmeshError as error:
        complain(str(error))
        return _code(error)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _AGENT_PACKAGES:
            raise
        complain(f"this command needs {package}. Install it with: pip install 'skillmesh-core[agent]'")
        return Exit.USAGE
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:  # the reader of our output has left, as in `skillmesh skills | head -1`
        abandon_output()
        return Exit.OK
    except OSError as error:
        abandon_output()
        where = f"{error.filename}: " if error.filename else ""
        complain(f"{where}{error.strerror or error}. Check the path, its rights and the space left.")
        return Exit.USAGE
    return Exit.OK


def complain(sentence: str) -> None:
    """Say on stderr what is wrong."""
    for line in plain(sentence).splitlines():
        print(f"skillmesh: {line}", file=sys.stderr)


def _code(error: SkillmeshError) -> Exit:
    if isinstance(error, ConfigError):
        return Exit.USAGE
    if isinstance(error, RegistryError | ModelError):
        return Exit.UNREACHABLE
    return Exit.NO_RESULT
