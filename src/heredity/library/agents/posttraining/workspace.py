"""An agent's workspace: folders, data, the grading rule, the remaining time, and the grading server."""

from __future__ import annotations

import copy
import json
import os
import signal
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, TypeVar

Setting = TypeVar("Setting", int, float, str)
Evaluate = Callable[[str, str, str], float]
"""Question, answer of the model and reference to a reward, higher is better."""

_LONGEST_GRADING_S = 1800
_UNLIMITED_S = 3600


class RefusedError(Exception):
    """The grading server refused to grade; the message is its reason."""


class HostFailedError(RefusedError):
    """The server failed; the request can be retried."""


class Workspace:
    """A run as described by environment variables."""

    def __init__(self) -> None:
        self.root = Path(os.environ.get("WORKSPACE", ".")).resolve()
        self.model = Path(os.environ["MODEL_PATH"])
        self.data = Path(os.environ.get("DATA_PATH", self.root / "data"))
        self.output = Path(os.environ.get("OUTPUT_DIR", self.root / "output"))
        self.server = os.environ["GRADING_SERVER_URL"].rstrip("/")
        self.settings: dict[str, int | float | str] = {}
        self._began = time.monotonic()

    def elapsed(self) -> float:
        """Return the seconds since the start."""
        return time.monotonic() - self._began

    def log(self, text: str) -> None:
        """Print a line of progress with the seconds since the start."""
        print(f"[{self.elapsed():7.1f}s] {text}", flush=True)

    def leave_when_told(self) -> None:
        """Exit with code 0 on SIGTERM, the run's signal that time is over; checkpoints graded by then count."""

        def leave(_number: int, _frame: FrameType | None) -> None:
            os.write(1, b"the time is over; what was graded counts\n")  # `print` may be what was interrupted
            sys.exit(0)

        signal.signal(signal.SIGTERM, leave)

    def setting(self, name: str, default: Setting) -> Setting:
        """Return an environment variable in the type of its default; used values are kept for `record`."""
        value = type(default)(os.environ.get(name) or default)
        self.settings[name] = value
        return value

    def record(self, **progress: int | float | str) -> None:
        """Write the settings and their current values next to the running code."""
        path = self.root / "code" / "settings.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({**self.settings, **progress}, indent=1) + "\n")

    # --- materials

    def parts(self) -> list[Workspace]:
        """Return one workspace per task; this workspace if there is one task."""
        spaces: list[Workspace] = []
        for folder in sorted(path for path in (self.root / "tasks").glob("*") if path.is_dir()):
            part = copy.copy(self)
            part.root, part.data = folder, folder / "data"
            spaces.append(part)
        return spaces or [self]

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of data/train.jsonl: `prompt`, `completion` and, for most tasks, `question` and `answer`."""
        path = self.data if self.data.is_file() else self.data / "train.jsonl"
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]

    def module(self, name: str) -> ModuleType | None:
        """Return a module that came with the task (`eval`, `env`), from the workspace or its data; None if there is none."""
        folder = self.data.parent if self.data.is_file() else self.data
        for path in (self.root / f"{name}.py", folder / f"{name}.py"):
            if path.exists():
                loader = SourceFileLoader(f"task_{name}", str(path))
                module = ModuleType(loader.name)
                loader.exec_module(module)
                return module
        return None

    def evaluate(self) -> Evaluate:
        """Return the task's grading rule, or exact match with the reference if it is hidden."""
        module = self.module("eval")
        return module.evaluate if module else lambda _, answer, reference: float(answer.strip() == reference.strip())

    # --- grading server

    def remaining(self) -> float:
        """Return the remaining seconds, at least 0; without a limit a run has one hour."""
        left = self._call("/time", None, 30)["remaining"]
        return max(0.0, _UNLIMITED_S - self.elapsed() if left is None else float(left))

    def submit(self, checkpoint: Path) -> dict[str, Any]:
        """Have a checkpoint graded; return the server's reply with `score` and `baseline_score`, 0 to 100.

        Raises:
            RefusedError: if it was refused or could not be graded, with the reason.
        """
        asked = {"model_path": str(checkpoint)}
        try:
            reply = self._call("/submit", asked, _LONGEST_GRADING_S)
        except HostFailedError:
            reply = self._call("/submit", asked, _LONGEST_GRADING_S)
        if reply.get("score") is None:
            raise RefusedError(str(reply.get("error") or "it was not scored"))
        self.log(
            f"submission {reply.get('submission_id')}: score {reply['score']:.2f}, "
            f"baseline {reply['baseline_score']:.2f}, improvement {reply['improvement']:+.2f}"
        )
        return reply

    def _call(self, path: str, body: dict[str, Any] | None, timeout_s: float) -> dict[str, Any]:
        request = urllib.request.Request(
            self.server + path,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=timeout_s) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as error:
            kind = HostFailedError if error.code >= 500 else RefusedError
            raise kind(f"{error.code}: {error.read().decode(errors='replace')[:500]}") from error
