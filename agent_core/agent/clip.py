"""Text cut to a size, with its head, its tail and a marker that says how much is missing."""

from typing import Final

_HEAD_SHARE: Final = 0.7
SMALLEST: Final = 256


def clip(text: str | bytes, limit: int) -> str:
    """At most about `limit` bytes of UTF-8 (never under 256); text that fits passes unchanged."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
    limit = max(limit, SMALLEST)
    if len(data) <= limit:
        return data.decode("utf-8", "replace")
    marker = f"\n[... {len(data) - limit:,} of {len(data):,} bytes left out; ask for less at once to see them ...]\n"
    room = max(limit - len(marker), SMALLEST // 2)
    head = int(room * _HEAD_SHARE)
    return data[:head].decode("utf-8", "ignore") + marker + data[head - room :].decode("utf-8", "ignore")
