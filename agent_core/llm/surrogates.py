"""Text whose characters a server cut in two: a surrogate pair, such as an emoji's, split over two JSON chunks."""

import re
from typing import Final

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_HIGH_AT_END: Final = re.compile("[\ud800-\udbff]\\Z")


def mended(text: str) -> str:
    """Pairs joined; a half without its other half becomes U+FFFD, as it cannot be encoded."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class Pairing:
    """Joins pairs across the pieces of one text, keeping a first half back until its second half comes."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, piece: str) -> str:
        """What of the text so far can be shown now."""
        if not self._half and (piece.isascii() or not _SURROGATE.search(piece)):
            return piece
        text, self._half = self._half + piece, ""
        if _HIGH_AT_END.search(text):
            text, self._half = text[:-1], text[-1]
        return mended(text)
