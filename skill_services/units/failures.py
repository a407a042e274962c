"""The one way a conversion fails."""


class UnitsError(Exception):
    """A conversion that cannot be made; the message says what can."""
