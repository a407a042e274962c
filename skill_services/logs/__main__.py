"""`python -m skill_services.logs`."""

from skill_services.logs.skill import VERSION, check_log_file, search_logs
from skill_services.sdk import serve

if __name__ == "__main__":
    serve("logs", [search_logs, check_log_file], version=VERSION)
