"""The one way a question about logs fails."""


class LogsError(Exception):
    """A file or a time that cannot be used; the message says what can."""
