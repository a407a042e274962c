"""`skillmesh chat` as a person has it: on a terminal, with an answer that takes too long."""

import asyncio
import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.dev_registry import dev_registry
from tests.support.running_up import PATIENCE_SECONDS, environment
from tests.support.stand_in_process import stand_in_process

SCRIPT = {
    "replies": [
        {"when": {"contains": "slow"}, "chunks": ["Let me ", "think."], "stall": 60, "stall_after": 2},
        {"when": {"contains": "quick"}, "text": "Here you are."},
    ]
}


class Terminal:
    """A process on a pseudo-terminal."""

    def __init__(self, more: dict[str, str], state: Path) -> None:
        self._master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "agent_core.app.cli", "chat"],
            env=environment(state, more), stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
        )  # fmt: skip
        os.close(slave)
        os.set_blocking(self._master, False)
        self.shown = ""

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def until(self, words: str) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while words not in self.shown:
            assert time.monotonic() < deadline, self.shown
            try:
                self.shown += os.read(self._master, 65_536).decode(errors="replace")
            except BlockingIOError:
                time.sleep(0.02)
            except OSError:  # the other side is closed
                raise AssertionError(self.shown) from None

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(timeout=10)
        os.close(self._master)


@pytest.mark.timeout(120)
async def test_ctrl_c_stops_an_answer_and_the_chat_goes_on(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps(SCRIPT), encoding="utf-8")
    async with stand_in_process(script) as model, dev_registry() as registry:
        more = {
            "CONSUL_HTTP_ADDR": f"127.0.0.1:{registry.port}",
            "OPENAI_BASE_URL": model.url,
            "SKILLMESH_MODEL": "scripted",
            "TERM": "dumb",
        }
        await asyncio.to_thread(talk, more, tmp_path)


def talk(more: dict[str, str], state: Path) -> None:
    terminal = Terminal(more, state)
    try:
        terminal.until("> ")
        terminal.type("slow please\n")
        terminal.until("Let me")
        terminal.process.send_signal(signal.SIGINT)
        terminal.until("Stopped.")
        terminal.type("quick please\n")
        terminal.until("Here you are.")
        terminal.type("\x04")  # Ctrl-D
        assert terminal.process.wait(timeout=15) == 0
    finally:
        terminal.close()
