"""Attempts to be accepted by the judge without solving the problem, or to get at something that is not a solution's business.

Each attack returns the right answer if it gets through, and fails if it does not.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from tests.kinds.code.compiler_attacks import COMPILED
from tests.kinds.code.sums import in_python

from heredity.kinds.code import judge as judging
from heredity.kinds.code.judge import Judge, Judgement, Tests
from heredity.kinds.code.languages import LANGUAGES
from heredity.kinds.code.problem import Problem
from heredity.kinds.code.toolchains import missing
from heredity.sandbox.bubblewrap_root import available

if available() is not None:
    pytest.skip("programs cannot be confined on this machine", allow_module_level=True)

pytestmark = pytest.mark.asyncio(loop_scope="module")

_LIBC = "import ctypes; c = ctypes.CDLL(None, use_errno=True)\n        "
_UNLESS = "\n        if not ({}): raise PermissionError"
_FORGED = "import os; os.write(1, b'\\n=answer=\\n{}\\n'); os._exit(0)"


def libc(call: str, works: str = "r >= 0") -> str:
    return f"{_LIBC}r = {call}{_UNLESS.format(works)}"


ATTACKS = {
    "reads the tests": "import glob; numbers = glob.glob('/[wst]*/*'); return len([n for n in numbers if 'test' in n])",
    "finds what is expected in the harness": "import sys; return sys.modules['__main__'].expected",
    "forges an answer": _FORGED.format("0"),
    "forges several answers": _FORGED.format("3\\n4\\n5"),
    "forges an answer of many digits": "import os; os.write(1, b'\\n=answer=\\n' + b'9' * 60000); os._exit(0)",
    "an answer that equals everything": "return type('A', (int,), {'__eq__': lambda *a: True, '__str__': lambda a: '*'})(0)",
    "starts a process": "import os; os.fork()",
    "starts a process behind Python's back": libc("c.syscall(57)", "r > 0"),
    "runs a program": "import subprocess; subprocess.run(['true'])",
    "becomes a program with a library of its own": "import os; "
    "os.execve('/bin/sh', ['sh', '-c', 'echo; echo =answer=; echo 0'], {'LD_PRELOAD': '/tmp/x.so'})",
    "keeps a file": "open('/tmp/seen', 'x').close()\n        raise KeyError",
    "writes to its folder": "open('/work/solution.py', 'a').write('x')",
    "writes to shared memory": "open('/dev/shm/seen', 'w').write('x')",
    "writes to what other programs run": "open('/usr/bin/python3', 'r+b').write(b'x')",
    "reaches the network": "import socket; socket.create_connection(('127.0.0.1', 22), 1)",
    "signals others": "import os; os.kill(-1, 9)",
    "traces its parent": "open('/proc/1/mem', 'rb').read(1)",
    "traces its parent by a call": libc("c.ptrace(16, 1, 0, 0)"),
    "reads its parent's memory by a call": libc("c.syscall(310, 1, 0, 0, 0, 0, 0)"),
    "looks at other runs": "import os; "
    "others = [p for p in os.listdir('/proc') if p.isdigit() and int(p) > 2 and int(p) != os.getpid()]"
    + _UNLESS.format("others"),
    "finds descriptors that were left open": "import os; left = [n for n in range(3, 256) if os.path.exists(f'/proc/self/fd/{n}')]"
    + _UNLESS.format("left"),
    "makes a namespace": libc("c.unshare(0x10000000)"),
    "mounts a file system": libc("c.mount(b'none', b'/tmp', b'tmpfs', 0, 0)"),
    "makes a ring of the kernel": libc("c.syscall(425, 8, ctypes.create_string_buffer(200))"),
    "makes a file in memory": libc("c.syscall(319, b'x', 0)"),
    "lifts its limits": "import resource; resource.setrlimit(resource.RLIMIT_CPU, (900, 900))",
    "takes memory that is shared": "import mmap; m = mmap.mmap(-1, 300 << 20)\n        "
    "for _ in range(300): m.write(bytes(1 << 20))",
    "reads the host's users": "return len(open('/etc/shadow').read())",
    "fills the disk": "open('/tmp/x', 'wb').write(bytes(40 << 20))",
    "floods its output": "import os\n        while True: os.write(1, bytes(1 << 16))",
    "floods its errors and fails": "import os\n        for i in range(64): os.write(2, bytes(1 << 16))\n        raise KeyError",
    "calls itself without end": "import sys; sys.setrecursionlimit(10**9); f = lambda n: 1 + f(n + 1); f(0)",
    "tells the answer by its exit code": "import os; os._exit(abs(sum(numbers)) % 255 + 1)",
    "many threads": "import threading, time\n        while True: threading.Thread(target=time.sleep, args=(60,)).start()",
    "closes its output": "import os; os.close(1); os.close(2)\n        raise SystemExit",
}

SLOW = {
    "goes on after its time is up": "import signal; signal.signal(signal.SIGXCPU, lambda *a: None)\n        while True: pass",
    "closes its output and works on": "import os; os.close(1); os.close(2)\n        while True: pass",
    "floods its errors": "import os\n        while True: os.write(2, bytes(1 << 16))",
}

STATES = {
    "a file": "import os\n        for d in ('/tmp', '/work', '/dev/shm', '/var/tmp', '/run', '/'):\n"
    "            try:\n                if os.path.exists(d + '/seen'): return 12345\n                "
    "open(d + '/seen', 'w').close()\n"
    "            except OSError: pass",
    "shared memory of System V": _LIBC
    + "r = c.shmget(77, 4096, 0o3600)\n        if r < 0 and ctypes.get_errno() == 17: return 12345",
    "a key of the kernel": _LIBC + "r = c.syscall(249, b'user', b'seen', 0, -4)\n        if r > 0: return 12345\n"
    "        c.syscall(248, b'user', b'seen', b'x', 1, -4)",
    "a socket": "import socket\n        try:\n            s = socket.socket(socket.AF_UNIX); s.bind('\\0seen')\n"
    "        except OSError as e:\n            if e.errno == 98: return 12345",
    "a module that was changed": "import json\n        if hasattr(json, 'seen'): return 12345\n        json.seen = 1",
}


async def judged(judge: Judge, asked: Problem, tests: Tests, source: str, language: str = "python3") -> Judgement:
    return await judge.judge(asked, LANGUAGES[language], source, tests)


@pytest.mark.parametrize("name", [*ATTACKS, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
async def test_no_attack_passes(name: str, judge: Judge, asked: Problem, tests: Tests) -> None:
    found = await judged(judge, asked, tests, in_python({**ATTACKS, **SLOW}[name]))
    assert found.verdict in ("RE", "WA", "MLE", "TLE", "TO"), found
    assert found.passed == 0


@pytest.mark.parametrize("name", STATES)
async def test_nothing_is_kept_from_one_case_to_the_next(name: str, judge: Judge, asked: Problem, tests: Tests) -> None:
    """A program that answers something else once it finds what it left is right on every case."""
    few = Tests(tests.cases[:4], tests.expected[:4], 1, tests.reference_s)
    found = await judged(judge, asked, few, in_python(STATES[name]))
    assert found.verdict == "PR", found


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPILED)
async def test_no_attack_on_a_compiler_passes(
    name: str, judge: Judge, asked: Problem, tests: Tests, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bomb is ended by the bound on the compiler's seconds, a third of the real one here; honest programs compile within it."""
    monkeypatch.setattr(judging, "_COMPILING", replace(judging._COMPILING, cpu_s=20.0))
    language, source = COMPILED[name]
    if missing(LANGUAGES[language]):
        pytest.skip(missing(LANGUAGES[language]))
    found = await judged(judge, asked, tests, source, language)
    assert found.verdict in ("CE", "RE", "WA", "MLE", "TLE"), found
    assert found.passed == 0
    assert "root:x:0" not in found.message


async def test_there_are_enough_attempts() -> None:
    assert len(ATTACKS) + len(SLOW) + len(STATES) >= 25
    counts = Counter(language for language, _ in COMPILED.values())
    assert {name: counts[name] >= 12 for name in LANGUAGES if name != "python3"} == dict.fromkeys(counts, True)
