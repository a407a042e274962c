"""How the registry says no: an HTTP status and one line of text, as Consul does."""


class RefusedError(Exception):
    """Becomes the HTTP response; the text is its whole body."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
