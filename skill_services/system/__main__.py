"""`python -m skill_services.system`."""

from skill_services.sdk import serve
from skill_services.system.skill import VERSION, disk_usage, system_overview, top_processes

if __name__ == "__main__":
    serve("system", [system_overview, disk_usage, top_processes], version=VERSION)
