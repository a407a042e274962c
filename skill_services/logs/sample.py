"""Made-up logs of a small shop with one incident in them, to try the log skills on.

`python -m skill_services.logs.sample DIRECTORY` writes them; the same seed and time give the same files. The story, in
minutes before now: at -48 orders is deployed with too small a connection pool; from -42 payments waits for connections,
from -38 orders times out and the gateway answers 502; at -25 the pool is enlarged; from -20 all is well again.
"""

import argparse
import gzip
import json
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

_SEED: Final = 7
_HOURS: Final = 3
_DEPLOYED, _WAITING, _FAILING, _MENDED, _WELL = (-48, -42, -38, -25, -20)
_PATHS: Final = ("/api/orders", "/api/orders/{id}", "/api/cart", "/api/products", "/api/payments", "/healthz")


@dataclass(frozen=True, slots=True)
class _Story:
    """`minute` counts from now, so it is negative."""

    now: datetime
    dice: random.Random

    def moments(self, first: float, last: float, every: float) -> Iterator[tuple[float, datetime]]:
        """Minutes and times from `first` to `last`, about `every` seconds apart."""
        minute = first
        while minute < last:
            yield minute, self.now + timedelta(minutes=minute)
            minute += every * self.dice.uniform(0.5, 1.5) / 60

    def order(self) -> str:
        return f"ord-{self.dice.randrange(10_000, 99_999)}"


def write_sample(directory: Path, now: datetime, seed: int = _SEED) -> list[Path]:
    """Write the files, replacing those of an earlier run; returns their paths. `now` is aware."""
    directory.mkdir(parents=True, exist_ok=True)
    story = _Story(now.astimezone(UTC).replace(microsecond=0), random.Random(seed))  # noqa: S311  # a story, no secret
    files = {
        "gateway/access.log": _gateway(story),
        "orders.log": _orders(story),
        "payments.log": _payments(story),
        "inventory.log": _inventory(story),
        "host/syslog": _host(story),
    }
    written = []
    for name, lines in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        written.append(path)
    rotated = directory / "orders.log.1.gz"
    text = "\n".join(_orders_yesterday(story)) + "\n"
    rotated.write_bytes(gzip.compress(text.encode(), mtime=0))
    return [*written, rotated]


def _gateway(story: _Story) -> Iterator[str]:
    """Nginx's combined format."""
    for minute, moment in story.moments(-60 * _HOURS, 0, 6):
        path = story.dice.choice(_PATHS).replace("{id}", story.order())
        bad = _FAILING <= minute < _MENDED + 1 and path.startswith(("/api/orders", "/api/payments"))
        status = story.dice.choice((502, 504, 502, 200)) if bad else story.dice.choice((200,) * 30 + (404, 304))
        size = 157 if status >= 500 else story.dice.randrange(120, 9_000)
        client = f"10.0.{story.dice.randrange(4)}.{story.dice.randrange(2, 250)}"
        time = moment.strftime("%d/%b/%Y:%H:%M:%S +0000")
        yield f'{client} - - [{time}] "GET {path} HTTP/1.1" {status} {size} "-" "shop-app/4.2"'


def _orders(story: _Story) -> Iterator[str]:
    """Python's logging, with tracebacks."""
    said: set[int] = set()
    events = (
        (_DEPLOYED, "INFO", "Deployed version 2.8.0; database pool size 4 (was 40)"),
        (_MENDED, "WARNING", "Configuration reloaded: database pool size 40"),
        (_WELL, "INFO", "Backlog is empty; all requests are served in time"),
    )
    for minute, moment in story.moments(-60 * _HOURS, 0, 11):
        for at, level, message in events:
            if minute >= at and at not in said:
                said.add(at)
                yield _python(moment, level, "deploy" if at == _DEPLOYED else "config", message)
        order = story.order()
        if _FAILING <= minute < _MENDED:
            yield _python(moment, "ERROR", "api", f"Creating order {order} failed after 5.0 s")
            yield from _traceback(order)
        elif _WAITING <= minute < _WELL:
            yield _python(moment, "WARNING", "api", f"Order {order} took {story.dice.uniform(2, 4.8):.1f} s")
        else:
            yield _python(moment, "INFO", "api", f"Order {order} created in {story.dice.randrange(20, 180)} ms")


def _orders_yesterday(story: _Story) -> Iterator[str]:
    for _, moment in story.moments(-60 * 27, -60 * 24, 60):
        if story.dice.random() < 0.05:
            yield _python(moment, "WARNING", "api", f"Order {story.order()} was refused: the cart is empty")
        else:
            yield _python(moment, "INFO", "api", f"Order {story.order()} created in {story.dice.randrange(20, 180)} ms")


def _payments(story: _Story) -> Iterator[str]:
    """One JSON object a line."""
    for minute, moment in story.moments(-60 * _HOURS, 0, 14):
        waiting = _WAITING <= minute < _MENDED
        record: dict[str, object] = {
            "time": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": "error" if waiting and minute >= _FAILING else "warning" if waiting else "info",
            "message": "No database connection within 5000 ms: pool exhausted (4 of 4 in use)"
            if waiting and minute >= _FAILING
            else "Waiting for a database connection"
            if waiting
            else "Payment captured",
            "order": story.order(),
        }
        if not waiting:
            record["amount"] = story.dice.randrange(500, 20_000) / 100
        yield json.dumps(record)


def _inventory(story: _Story) -> Iterator[str]:
    """ISO time and level; knows nothing of the incident."""
    for _, moment in story.moments(-60 * _HOURS, 0, 40):
        item = story.dice.randrange(100, 999)
        if story.dice.random() < 0.06:
            yield f"{moment:%Y-%m-%dT%H:%M:%SZ} WARN  stock of item {item} is low: {story.dice.randrange(1, 5)} left"
        else:
            yield f"{moment:%Y-%m-%dT%H:%M:%SZ} DEBUG item {item} reserved"


def _host(story: _Story) -> Iterator[str]:
    """The traditional syslog format, which has no year."""
    for minute, moment in story.moments(-60 * _HOURS, 0, 150):
        stamp = f"{moment:%b} {moment.day:2} {moment:%H:%M:%S}"
        if _FAILING <= minute < _MENDED:
            yield f"{stamp} node-1 postgres[812]: FATAL: remaining connection slots are reserved for superusers"
        else:
            yield f"{stamp} node-1 systemd[1]: Started periodic cleanup of temporary directories."


def _python(moment: datetime, level: str, logger: str, message: str) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S},{moment.microsecond // 1000:03} {level} [orders.{logger}] {message}"


def _traceback(order: str) -> Iterator[str]:
    yield "Traceback (most recent call last):"
    yield '  File "/app/orders/api.py", line 88, in create'
    yield f'    payment = await payments.capture("{order}")'
    yield '  File "/app/orders/payments.py", line 41, in capture'
    yield "    raise PaymentTimeout(seconds=5.0)"
    yield "orders.payments.PaymentTimeout: payments did not answer within 5.0 s"


def main(arguments: list[str] | None = None) -> int:
    """Exit code 0."""
    parser = argparse.ArgumentParser(prog="python -m skill_services.logs.sample", description="Write made-up logs.")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--seed", type=int, default=_SEED)
    options = parser.parse_args(arguments)
    for path in write_sample(options.directory, datetime.now(UTC), options.seed):
        sys.stdout.write(f"{path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
