"""Import every module of the installed packages: what an editable install hides is missing here."""

import importlib
import pkgutil
import sys


def main() -> int:
    count = 0
    for package in ("skillmesh", "agent_core", "skill_services"):
        module = importlib.import_module(package)
        if "site-packages" not in (module.__file__ or ""):
            sys.stderr.write(f"{package} does not come from the wheel but from {module.__file__}\n")
            return 1
        for found in pkgutil.walk_packages(module.__path__, f"{package}."):
            if not found.name.endswith("__main__"):
                importlib.import_module(found.name)
                count += 1
    sys.stdout.write(f"imported {count} modules from the wheel\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
