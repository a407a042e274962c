"""What `skillmesh new NAME` writes: a skill service that works, from the files in `template/`."""

import keyword
import shutil
import tempfile
from importlib import resources
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import Final

from agent_core.domain.errors import ConfigError
from skillmesh import __version__
from skillmesh.conventions import CONSUL_CORE_SERVICE, SERVICE_NAME

_SUFFIX: Final = ".tmpl"
_PACKAGE_FOLDER: Final = "package"
_MAX_SKILL_NAME: Final = 64
_TESTS: Final = "tests"


def scaffold(name: str, parent: Path) -> Path:
    """Write the service `name` to a new folder of that name in `parent`; returns the folder.

    Raises ConfigError where the name is not one a service may have, the folder exists already, or it cannot be written.
    """
    if not SERVICE_NAME.fullmatch(name) or name == CONSUL_CORE_SERVICE:
        raise ConfigError(
            f"{name!r} cannot name a service: use up to 63 lower-case letters, digits and hyphens, a letter or digit "
            f"at both ends, and not {CONSUL_CORE_SERVICE}; for example weather."
        )
    if not parent.is_dir():
        raise ConfigError(f"{parent} is not a directory; create it, or name another.")
    target = parent / name
    if target.exists() or target.is_symlink():
        raise ConfigError(f"{target} exists already and is left as it is; choose another name or directory.")
    package = package_name(name)
    values = {
        "name": name,
        "package": package,
        "skill": f"hello_{package}"[:_MAX_SKILL_NAME].rstrip("_"),
        "version": __version__,
    }
    try:
        _write_whole(target, values)
    except OSError as error:
        raise ConfigError(f"{target} cannot be written: {error.strerror or error}.") from error
    return target


def package_name(name: str) -> str:
    """The service's import package: an identifier that hides no module that can be imported here."""
    package = name.replace("-", "_")
    if not package.isidentifier():
        package = f"service_{package}"
    if keyword.iskeyword(package) or package == _TESTS or find_spec(package) is not None:
        package += "_service"
    return package


def _write_whole(target: Path, values: dict[str, str]) -> None:
    """All files or none: written beside the target, which then appears in one step."""
    with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as scratch:
        folder = Path(scratch) / target.name
        _write(resources.files("agent_core.app") / "template", folder, values)
        shutil.move(folder, target)


def _write(source: Traversable, target: Path, values: dict[str, str]) -> None:
    target.mkdir()
    for entry in source.iterdir():
        if entry.is_dir():
            _write(entry, target / (values["package"] if entry.name == _PACKAGE_FOLDER else entry.name), values)
        elif entry.name.endswith(_SUFFIX):
            text = Template(entry.read_text(encoding="utf-8")).substitute(values)
            (target / entry.name.removesuffix(_SUFFIX)).write_text(text, encoding="utf-8", newline="\n")
