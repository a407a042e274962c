"""`python -m agent_core.dev.model --port N [--host HOST] [--script FILE]`: serve until SIGTERM or SIGINT.

Exit codes: 0 stopped by a signal, 1 the address cannot be bound, 2 wrong arguments or script.
"""

import argparse
import asyncio
import signal
import sys
from pathlib import Path

from agent_core.dev.model.exchange import Play
from agent_core.dev.model.sentences import MODEL, NOTE
from agent_core.dev.model.server import build_app, running


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    play = None
    if options.script:
        # pydantic is loaded only for a script: it would be a good part of the time to start.
        from agent_core.dev.model.playing import player_for
        from agent_core.dev.model.script import ScriptError, load_script

        try:
            play = player_for(load_script(options.script))
        except ScriptError as error:
            _say(str(error))
            return 2
    try:
        asyncio.run(_serve(options.host, options.port, play))
    except OSError as error:
        _say(f"The stand-in model cannot listen on {options.host}:{options.port}: {error.strerror}.")
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m agent_core.dev.model", description=NOTE)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default %(default)s)")
    parser.add_argument("--port", type=_port, default=0, help="port to listen on; 0, the default, takes a free one")
    parser.add_argument("--script", type=Path, help="JSON, JSONL or TOML file of replies to play")
    return parser


def _port(text: str) -> int:
    if text.isdecimal() and int(text) <= 65_535:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no port; give a number from 0 to 65535")


async def _serve(host: str, port: int, play: Play | None) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    async with running(build_app(play=play), host, port) as url:
        _say(f"{MODEL} serves {url}. {NOTE}")
        await stopped.wait()


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201  # stderr is this process's log


if __name__ == "__main__":
    sys.exit(main())
