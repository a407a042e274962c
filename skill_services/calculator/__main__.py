"""`python -m skill_services.calculator`."""

from skill_services.calculator.skill import VERSION, calculate, summarize_numbers
from skill_services.sdk import serve

if __name__ == "__main__":
    serve("calculator", [calculate, summarize_numbers], version=VERSION)
