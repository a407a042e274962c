"""pint's registry, built once and kept; its parsed definitions are cached on disk, ten times faster to read."""

import logging
import os
from pathlib import Path
from threading import Lock
from typing import Final, cast

from skill_services.units.pint_types import Units

_DEFINITIONS: Final = (
    "chinese_li = 500 * meter",
    "chinese_zhang = 10 / 3 * meter",
    "chinese_chi = 1 / 3 * meter",
    "chinese_cun = 1 / 30 * meter",
    "chinese_jin = 0.5 * kilogram",
    "chinese_liang = 0.05 * kilogram",
    "chinese_mu = 2000 / 3 * meter ** 2",
    "mile_per_gallon = mile / gallon",
    "liter_per_hectokilometer = liter / 100 / kilometer",
)
_log: Final = logging.getLogger(__name__)


class Registry:
    """Builds the registry at the first use, on whichever thread comes first."""

    def __init__(self, cache: Path | None) -> None:
        self._cache = cache
        self._lock = Lock()
        self._built: Units | None = None

    def get(self) -> Units:
        with self._lock:
            if self._built is None:
                self._built = _build(self._cache)
            return self._built


def _build(cache: Path | None) -> Units:
    import pint  # 0.2 s to import

    try:
        registry: pint.UnitRegistry[float] = pint.UnitRegistry(cache_folder=cache, autoconvert_offset_to_baseunit=True)
    except Exception:  # noqa: BLE001  # a broken cache file may fail in any way, and is never needed
        _log.warning("the unit cache in %s cannot be used; going on without it", cache)
        registry = pint.UnitRegistry(cache_folder=None, autoconvert_offset_to_baseunit=True)
    for definition in _DEFINITIONS:
        registry.define(definition)
    return cast("Units", registry)


def private_cache() -> Path | None:
    """A folder of this user alone, as what is read back from it is unpickled; None where there can be none."""
    root = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    try:
        folder = Path(root).expanduser() / "skillmesh" / "units"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        owner = folder.stat()
    except (OSError, RuntimeError):  # no home, or a read-only one
        return None
    if hasattr(os, "getuid") and (owner.st_uid != os.getuid() or owner.st_mode & 0o022):
        return None
    return folder if os.access(folder, os.W_OK) else None
