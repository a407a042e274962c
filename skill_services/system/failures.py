"""The one way a reading fails."""


class ReadingError(Exception):
    """Something of this node that cannot be read; the message says what can."""
