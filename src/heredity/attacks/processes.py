"""Attacks by processes, threads and signals: outliving an episode, killing other processes."""

from __future__ import annotations

from heredity.attacks.contract import TIMEOUTS, Attack, policy


def _process(name: str, what: str, act: str) -> Attack:
    return Attack(name, "processes", what, policy(act))


_CLONE_FLAGS = """
for flags in (0, 17, 0x100, 0x4111, 0x8011, 0x20000011, 0x10000011, 0x40000011):
    result = call("clone", flags, 0, 0, 0, 0)
    if result == 0:
        os._exit(0)
    if result > 0:
        won("clone", hex(flags), "made process", result)
for extra in (0x20000, 0x40000000, 0x8000000, 0x4000000, 0x10000000, 0x20000000, 0x2000000):
    stack = ctypes.create_string_buffer(65536)
    result = call("clone", 0x10000 | 0x800 | 0x100 | extra, ctypes.addressof(stack) + 65000, 0, 0, 0)
    if result > 0:
        won("clone", hex(extra), "made a thread in another namespace")
"""

_CHILD = """
pid = {call}
if pid == 0:
    os._exit(0)
if pid is not None and pid > 0:
    won("made process", pid)
"""

_SIGNALS = """
import signal
for pid in (1, os.getppid(), TARGET["sibling_pid"], TARGET["host_pid"], -1, 0):
    for number in (0, signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM):
        wins("kill", pid, int(number))
        wins("tgkill", pid, pid, int(number))
        wins("tkill", pid, int(number))
        wins("rt_sigqueueinfo", pid, int(number), bytes(128))
"""

_THREADS = """
def stay():
    while True:
        time.sleep(0.01)
for _ in range(8 if self.t == 1 else 0):
    threading.Thread(target=stay, daemon=False).start()
"""

ATTACKS = (
    _process("fork", "forks", _CHILD.replace("{call}", "fails(os.fork)")),
    _process(
        "vfork",
        "forks by the old call",
        _CHILD.replace("{call}", "call('vfork')") + _CHILD.replace("{call}", "call('fork')"),
    ),
    _process("clone", "makes a process by clone, with every kind of namespace", _CLONE_FLAGS),
    _process(
        "clone3",
        "makes a process by clone3, whose flags no filter sees",
        "pid = call('clone3', struct.pack('<11Q', 0, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0), 88)\nif pid == 0:\n    os._exit(0)\nif pid > 0:\n    won('made process', pid)",
    ),
    _process(
        "exec",
        "becomes another program",
        "for path in ('/bin/sh', '/usr/bin/env', sys.executable):\n    fails(os.execv, path, [path, '-c', 'echo ' + TARGET['flag']])\n"
        "wins('execve', b'/bin/true', 0, 0); wins('execveat', 3, b'/bin/true', 0, 0, 0)",
    ),
    _process(
        "subprocess",
        "starts programs as Python does it",
        "import subprocess\nworks(subprocess.run, ['/bin/true']); works(os.posix_spawn, '/bin/true', ['true'], {})\n"
        "if fails(os.system, 'true') == 0:\n    won('a shell ran')\nworks(os.popen, 'id')",
    ),
    _process(
        "multiprocessing",
        "starts workers of its own",
        "import multiprocessing\nfor kind in ('fork', 'spawn', 'forkserver'):\n    process = multiprocessing.get_context(kind).Process(target=print)\n    works(process.start)",
    ),
    _process(
        "executor",
        "starts a pool of processes",
        "from concurrent.futures import ProcessPoolExecutor\nworks(lambda: ProcessPoolExecutor(1).submit(os.getpid).result(1))",
    ),
    _process("signals", "kills the zygote, the engine and its neighbours", _SIGNALS),
    _process(
        "scheduling",
        "gives itself a higher priority and takes the others' cores",
        "wins('setpriority', 0, 0, -20); wins('sched_setscheduler', 0, 1, struct.pack('<i', 99)); wins('sched_setaffinity', 0, 8, b'\\xff' * 8)\n"
        "wins('ioprio_set', 1, 0, 0); wins('setpriority', 0, TARGET['host_pid'], 19)",
    ),
    _process(
        "leave-session",
        "leaves its session and the reach of its parent",
        "wins('setsid'); wins('setpgid', 0, 0); wins('prctl', 1, 0, 0, 0, 0); wins('prctl', 36, 1, 0, 0, 0)",
    ),
    _process("surviving-threads", "leaves threads behind that go on after its episode", _THREADS),
    Attack(
        "threads-after-exit",
        "processes",
        "ends its main thread and goes on in another",
        policy(_THREADS + "\ncall('exit', 0)"),
        limits={"act_s": 0.7},
        stopped_by=TIMEOUTS,
    ),
    _process(
        "exit-hooks",
        "goes on while the interpreter ends",
        "import atexit\natexit.register(lambda: time.sleep(60))\nthreading.Thread(target=time.sleep, args=(60,)).start()\nraise SystemExit",
    ),
)
