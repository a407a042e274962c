"""What a model endpoint is: where, which model, and the limits of one call of it."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit, urlunsplit

DEFAULT_BASE_URL = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """One OpenAI-compatible endpoint and the model asked there; times are in seconds.

    `idle_timeout` bounds the silence between two pieces of a reply, `connect_timeout` the connecting, and `linger` the
    wait for what may follow the finish reason: the token counts and the stream's end.
    """

    model: str
    base_url: str = DEFAULT_BASE_URL
    api_key: str = field(default="", repr=False)
    max_tokens: int = 2_048
    temperature: float | None = None
    connect_timeout: float = 10.0
    idle_timeout: float = 60.0
    linger: float = 5.0
    provider: str = "openai"  # gen_ai.provider.name

    @property
    def shown_url(self) -> str:
        """The address as errors may show it: without credentials and query."""
        try:
            parts = urlsplit(self.base_url)
        except ValueError:
            return "(OPENAI_BASE_URL is no URL)"
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))

    @property
    def server(self) -> tuple[str | None, int | None]:
        """Host and port, for telemetry; the scheme's own port where none is given, neither where the URL is none."""
        try:
            parts = urlsplit(self.base_url)
            return parts.hostname, parts.port or {"https": 443, "http": 80}.get(parts.scheme)
        except ValueError:
            return None, None
