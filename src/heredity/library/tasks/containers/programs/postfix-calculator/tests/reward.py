"""Runs check.py and writes the reward: 1 if every check holds, and 0 otherwise.

What is checked are programs that run as the same user. So they find nothing at /tests, cannot read or change this process, and
when the reward is written none of them runs any more.
"""

import contextlib
import ctypes
import linecache
import os
import shutil
import signal
import time
import traceback
from pathlib import Path

LOGS, TESTS, CHECK = Path("/logs/verifier"), Path("/tests"), "/tests/check.py"
PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36


def clear(folder):
    """Remove what a folder holds."""
    for path in folder.iterdir():
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() and not path.is_symlink() else path.unlink()


def end_children():
    """End every process that was started from here, also what has left its parents."""
    while True:
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError, ValueError):
                if int(stat.read_text().rpartition(")")[2].split()[1]) == os.getpid():
                    os.kill(int(stat.parent.name), signal.SIGKILL)
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        time.sleep(0.002)


source = Path(CHECK).read_text(encoding="utf-8")
linecache.cache[CHECK] = (len(source), None, source.splitlines(keepends=True), CHECK)
for option, value in ((PR_SET_DUMPABLE, 0), (PR_SET_CHILD_SUBREAPER, 1)):
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
clear(TESTS)
reward = 0
try:
    exec(compile(source, CHECK, "exec"), {"__name__": "__main__"})
    reward = 1
except BaseException:  # noqa: BLE001 - whatever it was, a check does not hold
    traceback.print_exc()
end_children()
clear(LOGS)
(LOGS / "reward.txt").write_text(f"{reward}\n")
