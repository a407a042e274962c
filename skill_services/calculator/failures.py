"""The one way a calculation fails."""


class CalculationError(Exception):
    """A calculation that has no answer; the message is one sentence that says what to write instead."""
