"""`python -m skill_services.units`."""

from skill_services.sdk import serve
from skill_services.units.skill import VERSION, convert_units, list_units

if __name__ == "__main__":
    serve("units", [convert_units, list_units], version=VERSION)
