"""Small task folders of the Harbor format."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

TOML = """
schema_version = "1.4"
[task]
name = "heredity/greeting"
[verifier]
timeout_sec = 20
[agent]
timeout_sec = 20
[environment]
network_mode = "no-network"
storage_mb = 32
memory_mb = 256
"""
DOCKERFILE = "FROM debian:stable-slim\nWORKDIR /app\n"
TEST = 'if [ "$(cat /app/greeting.txt)" = hello ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n'
SOLVE = "printf hello > /app/greeting.txt\n"


def write_task(
    folder: Path,
    *,
    toml: str = TOML,
    dockerfile: str = DOCKERFILE,
    test: str = TEST,
    solve: str | None = SOLVE,
    files: Mapping[str, str] | None = None,
) -> Path:
    written = {
        "task.toml": toml,
        "instruction.md": "Write hello into /app/greeting.txt.\n",
        "environment/Dockerfile": dockerfile,
        "tests/test.sh": test,
        **({} if solve is None else {"solution/solve.sh": solve}),
        **(files or {}),
    }
    for name, text in written.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder
