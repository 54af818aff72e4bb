#!/usr/bin/env python3
"""The commands `heredity`, `submit` and `finish` inside an agent's workspace.

Standard library only; imports nothing of Heredity.

    heredity submit [--episodes "0-3,7"] [--json]    submit the program on train cases (inclusive ranges)
    submit program --episodes "0:2,4:8"              the same; half-open ranges
    heredity finish [ID ...]                         end the run
    heredity info                                    state of the run as JSON
    heredity task                                    the task in Markdown
    heredity tools                                   available tools, with their arguments
    heredity tool NAME ['{"argument": "value"}']     ask one and print its result; - reads the arguments from stdin

It connects to the Unix socket HEREDITY_SOCKET, or else to the address HEREDITY_URL or EVOPOLICYGYM_SUBMIT_URL. Exit
codes: 0 done; 1 the program failed as a whole; 2 wrong command line; 3 refused, nothing charged; 4 the run is closed;
5 the host cannot be reached.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import socket
import sys
import urllib.parse
from typing import Any

EXIT_FAILED, EXIT_USAGE, EXIT_REFUSED, EXIT_CLOSED, EXIT_UNREACHABLE = 1, 2, 3, 4, 5


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(self._path)


def main(arguments: list[str] | None = None, program: str | None = None) -> int:
    """Run one command and return its exit code.

    Args:
        arguments: the command line without the program's name; by default that of this process.
        program: the name it was called by; `submit` and `finish` are short for `heredity submit` and `heredity
            finish`.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    name = os.path.basename(sys.argv[0]) if program is None else program
    if name in ("submit", "finish"):
        given.insert(0, name)
    options = _parser().parse_args(given)
    try:
        code, body = _perform(options)
    except (OSError, http.client.HTTPException, LookupError) as error:
        sys.stderr.write(f"the host of this run cannot be reached: {error}\n")
        return EXIT_UNREACHABLE
    return _report(options, code, body)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="heredity", description="Talk to the host of this run.")
    commands = parser.add_subparsers(dest="command", required=True)
    submit = commands.add_parser("submit", help="run the program on train cases")
    submit.add_argument("folder", nargs="?", default="system", choices=("system", "program"), help="the run's program")
    submit.add_argument(
        "--episodes",
        help='"0-3,7" with inclusive ranges, or "0:2,4:8" with half-open ones; the first cases if left out',
    )
    submit.add_argument("--note", default="", help="one line: what was changed")
    submit.add_argument("--key", help="makes the request safe to repeat: one key is charged once")
    finish = commands.add_parser("finish", help="end the run")
    finish.add_argument(
        "ids", nargs="*", type=int, metavar="ID", help="submissions held to be the best, for the record"
    )
    tool = commands.add_parser("tool", help="ask a tool and print its result")
    tool.add_argument("name")
    tool.add_argument("arguments", nargs="?", default="{}", help="a JSON object; - reads it from standard input")
    for command in (
        submit,
        finish,
        commands.add_parser("info", help="state of the run"),
        commands.add_parser("task", help="the task"),
        commands.add_parser("tools", help="available tools"),
        tool,
    ):
        command.add_argument("--json", action="store_true", help="print the whole answer")
    return parser


def _perform(options: argparse.Namespace) -> tuple[int, bytes]:
    if options.command == "tool":
        given = sys.stdin.read() if options.arguments == "-" else options.arguments
        return _send("POST", f"/tools/{urllib.parse.quote(options.name, safe='')}", given.encode())
    if options.command in ("info", "task", "tools"):
        return _request("GET", f"/{options.command}")
    if options.command == "finish":
        return _request("POST", "/finish", {"submit_ids": options.ids})
    episodes = options.episodes
    if episodes is None:
        code, body = _request("GET", "/info")
        if code != 200:
            return code, body
        episodes = f"0:{json.loads(body)['min_episodes_per_submit']}"
    asked: dict[str, Any] = {"env_instances": episodes, "note": options.note}
    if options.key:
        asked["key"] = options.key
    return _request("POST", "/submit", asked)


def _request(method: str, path: str, body: dict[str, Any] | None = None) -> tuple[int, bytes]:
    return _send(method, path, None if body is None else json.dumps(body).encode())


def _send(method: str, path: str, data: bytes | None) -> tuple[int, bytes]:
    connection, prefix = _connection()
    try:
        connection.request(method, prefix + path, data, {"Content-Type": "application/json", "Connection": "close"})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def _connection() -> tuple[http.client.HTTPConnection, str]:
    path = os.environ.get("HEREDITY_SOCKET", "")
    if path:
        return _UnixConnection(path), ""
    url = os.environ.get("HEREDITY_URL") or os.environ.get("EVOPOLICYGYM_SUBMIT_URL", "").removesuffix("/submit")
    parts = urllib.parse.urlsplit(url)
    if not parts.hostname:
        raise LookupError("neither HEREDITY_SOCKET nor HEREDITY_URL nor EVOPOLICYGYM_SUBMIT_URL is set")
    return http.client.HTTPConnection(parts.hostname, parts.port or 80), parts.path.rstrip("/")


def _report(options: argparse.Namespace, code: int, body: bytes) -> int:
    text = body.decode("utf-8", "replace")
    if options.command == "task" and code == 200:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        return 0
    try:
        answer: Any = json.loads(text)
    except ValueError:
        sys.stderr.write(f"the host answered {code} with something that is not JSON: {text[:200]}\n")
        return EXIT_UNREACHABLE
    if options.json or (options.command == "info" and code == 200):
        sys.stdout.write(json.dumps(answer, indent=1) + "\n")
    if code != 200:
        message = answer.get("error", {}).get("message", text[:200])
        sys.stderr.write(f"{answer.get('status', code)}: {message}\n")
        return {409: EXIT_CLOSED}.get(code, EXIT_REFUSED if code < 500 else EXIT_UNREACHABLE)
    if options.command == "finish" and not options.json:
        sys.stdout.write("finished\n")
    if options.command in ("tool", "tools") and not options.json:
        sys.stdout.write(_format_answer(answer) + "\n")
    if options.command == "submit":
        if not options.json:
            _describe(answer)
        return 0 if answer["status"] == "ok" else EXIT_FAILED
    return 0


def _format_answer(answer: dict[str, Any]) -> str:
    if "result" in answer:
        return str(answer["result"])
    lines: list[str] = []
    for tool in answer["tools"]:
        lines += [f"{tool['name']}: {tool['description']}", f"  {json.dumps(tool['parameters'].get('properties', {}))}"]
    return "\n".join(lines)


def _describe(answer: dict[str, Any]) -> None:
    summary = answer["summary"]
    words = [f"submit_id={answer['submit_id']}", f"status={answer['status']}", f"episodes={summary['n_episodes']}"]
    if summary["mean_return"] is not None:
        words += [f"mean_return={summary['mean_return']:.6g}", f"failed={len(summary['errors'] + summary['timeouts'])}"]
    sys.stdout.write(" ".join([*words, f"remaining={summary['remaining_budget']}"]) + "\n")


if __name__ == "__main__":
    sys.exit(main())
