"""A stand-in for an engine's command line, as its documentation says it behaves: `cp` does not reach what is mounted in memory."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HOME = Path(os.environ["ENGINE_STAND_IN"])
VALUED = ("--name", "--memory", "--pids-limit", "--network", "--entrypoint", "--env", "--user", "--workdir")


def run(words: list[str]) -> int:
    place = HOME / words[words.index("--name") + 1]
    (place / "root").mkdir(parents=True)
    for name in ("bin", "lib", "lib64", "sbin"):
        (place / "root" / name).symlink_to(f"usr/{name}")
    mounts = [words[i + 1].partition(":")[0] for i, word in enumerate(words) if word == "--tmpfs"]
    for number in range(len(mounts)):
        (place / f"memory{number}").mkdir()
    (place / "mounts").write_text("\n".join(mounts))
    return 0


def execute(words: list[str]) -> int:
    options, position = {"--workdir": "/"}, 0
    while words[position].startswith("--"):
        valued = words[position] in VALUED
        if valued and words[position] != "--env":
            options[words[position]] = words[position + 1]
        position += 2 if valued else 1
    place = HOME / words[position]
    binds = ["--bind", str(place / "root"), "/", "--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev"]
    for number, mount in enumerate(filter(None, (place / "mounts").read_text().split("\n"))):
        binds += ["--bind", str(place / f"memory{number}"), mount]
    command = ["bwrap", "--unshare-all", *binds, "--chdir", options["--workdir"], "--", *words[position + 1 :]]
    stdin = None if "--interactive" in words else subprocess.DEVNULL
    return subprocess.run(command, check=False, stdin=stdin).returncode


def copy(words: list[str]) -> int:
    name, _, path = words[0].partition(":")
    source = HOME / name / "root" / path.lstrip("/")
    if not source.exists():
        sys.stderr.write(f"Could not find the file {path} in container {name}\n")
        return 1
    shutil.copy(source, words[1])
    return 0


def remove(words: list[str]) -> int:
    shutil.rmtree(HOME / words[-1])
    return 0


def changes(words: list[str]) -> int:
    root = HOME / words[-1] / "root"
    for path in sorted(root.rglob("*")):
        if path.parent != root or not path.is_symlink():
            sys.stdout.write(f"A /{path.relative_to(root)}\n")
    return 0


def nothing(words: list[str]) -> int:
    return 0


ACTIONS = {
    "diff": changes,
    "top": nothing,
    "kill": nothing,
    "commit": nothing,
    "run": run,
    "exec": execute,
    "cp": copy,
    "rm": remove,
    "version": lambda words: 0,
}
sys.exit(ACTIONS[sys.argv[1]](sys.argv[2:]))
