"""`python -m skill_services.clock`."""

from skill_services.clock.skill import VERSION, convert_time, current_time, resolve_time
from skill_services.sdk import serve

if __name__ == "__main__":
    serve("clock", [current_time, convert_time, resolve_time], version=VERSION)
