"""What a sandboxed program is kept from; what would otherwise be in reach is also tried with every layer off."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

import heredity
from heredity.engine.programs import SandboxedPrograms
from heredity.resources import SourceTree
from heredity.sandbox import isolation

pytestmark = pytest.mark.asyncio(loop_scope="module")

REACHES = {
    "read a file of the host": "open(target).read()",
    "list a folder of the host": "os.listdir(os.path.dirname(target))",
    "read the users of the host": "open('/etc/passwd').read()",
    "read the source of heredity": "open(heredity).read()",
    "read another program": "open(other).read()",
    "list the programs": "os.listdir(os.path.dirname(os.path.dirname(__file__)))",
    "read the environment of another process": "open(f'/proc/{host}/environ', 'rb').read()",
    "write beside the target": "open(target + '.new', 'w').write('x')",
    "write to the own program": "open(__file__, 'a').write('#')",
    "write to the packages": "open(os.path.dirname(np.__file__) + '/heredity_probe.py', 'w').close()",
    "link to a secret": "os.symlink(target, 'link') or open('link').read()",
    "open a socket": "socket.socket()",
    "open a Unix socket": "socket.socket(socket.AF_UNIX)",
    "make a pair of sockets": "socket.socketpair()",
    "look up a name": "socket.getaddrinfo('127.0.0.1', 80) and socket.create_server(('127.0.0.1', 0))",
    "start a process": "subprocess.run(['/bin/true'])",
    "fork": "os.fork() or os._exit(0)",
    "signal the host": "os.kill(host, 0)",
    "make a memory file": "os.memfd_create('x')",
}

WITHOUT = [
    "read a file of the host",
    "list a folder of the host",
    "read the users of the host",
    "read the source of heredity",
    "read another program",
    "list the programs",
    "write beside the target",
    "link to a secret",
    "open a socket",
    "open a Unix socket",
    "make a pair of sockets",
    "look up a name",
    "start a process",
    "signal the host",
    "make a memory file",
]

PROGRAM = """
import os, socket, subprocess
import numpy as np
def run(what, target, other, heredity, host):
    try:
        eval(what)
    except OSError as error:
        return os.strerror(error.errno)
    return "reached"
"""

REFUSALS = {"Operation not permitted", "Permission denied", "Read-only file system", "No such process"}


async def reach(programs: SandboxedPrograms, name: str, folder: Path) -> str:
    (folder / "secret").write_text("secret")
    victim = SourceTree({"tool.py": "def run():\n    return __file__\n"})
    other = (await programs.call(victim, "tool:run", {}, seconds=60)).value
    places = {"target": str(folder / "secret"), "other": other, "heredity": heredity.__file__, "host": os.getpid()}
    tree = SourceTree({"tool.py": PROGRAM})
    result = await programs.call(tree, "tool:run", {"what": REACHES[name], **places}, seconds=60)
    assert result.error == "", result
    return result.value


async def test_every_layer_is_in_force(programs: SandboxedPrograms) -> None:
    assert programs.isolation.tier == "namespaces+landlock+seccomp"


@pytest.mark.parametrize("name", REACHES)
async def test_a_program_cannot(name: str, programs: SandboxedPrograms, tmp_path: Path) -> None:
    assert await reach(programs, name, tmp_path) in REFUSALS
    assert sorted(os.listdir(tmp_path)) == ["secret"]


async def test_a_program_cannot_trace_or_write_to_another_process(programs: SandboxedPrograms) -> None:
    lines = (
        "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "def run():\n    return [libc.ptrace(16, os.getppid(), 0, 0), libc.process_vm_readv(1, 0, 0, 0, 0, 0)]\n"
    )
    result = await programs.call(SourceTree({"tool.py": lines}), "tool:run", {}, seconds=60)
    assert result.value == [-1, -1]


async def test_the_scratch_folders_of_other_programs_are_out_of_reach(programs: SandboxedPrograms) -> None:
    keeper = SourceTree(
        {"tool.py": "class Keeper:\n    def __init__(self):\n        open('mine', 'w').write('secret')\n"}
    )
    finder = (
        "import os\ndef run():\n    found = []\n    own = os.environ['TMPDIR']\n    above = os.path.dirname(own)\n"
        "    for slot in range(16):\n        path = f'{above}/{slot}'\n        if path != own:\n"
        "            try:\n                found.append(os.listdir(path))\n            except OSError:\n                pass\n"
        "    return found\n"
    )
    async with programs.open(keeper, "tool:Keeper", {}) as kept:
        assert kept.opened.error == ""
        assert (await programs.call(SourceTree({"tool.py": finder}), "tool:run", {}, seconds=60)).value == []


async def test_the_scratch_folder_has_an_end(programs: SandboxedPrograms) -> None:
    fill = SourceTree(
        {
            "tool.py": (
                "import os\ndef run():\n    n = 0\n"
                "    try:\n        while True:\n            open(f'f{n}', 'wb').write(bytes(1 << 20))\n            n += 1\n"
                "    except OSError as error:\n        return [n, os.strerror(error.errno)]\n"
            )
        }
    )
    count, reason = (await programs.call(fill, "tool:run", {}, seconds=60)).value
    assert count <= 16
    assert reason == "No space left on device"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def undefended() -> AsyncIterator[SandboxedPrograms]:
    nothing = isolation.Isolation(namespaces=False, landlock=False, seccomp=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(isolation, "resolve", lambda *, unsafe=False: nothing)
        programs = SandboxedPrograms(2)
    async with programs:
        yield programs


@pytest.mark.parametrize("name", WITHOUT)
async def test_without_isolation_the_same_is_reached(name: str, undefended: SandboxedPrograms, tmp_path: Path) -> None:
    assert await reach(undefended, name, tmp_path) == "reached"
