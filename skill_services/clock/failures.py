"""The one way a question of time fails."""


class ClockError(Exception):
    """A zone or an expression that cannot be understood; the message says what to write instead."""
