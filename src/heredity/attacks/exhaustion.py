"""Exhaustion attacks: unlimited memory, disk, output, descriptors, threads and time."""

from __future__ import annotations

from heredity.attacks.contract import TIMEOUTS, Attack, policy

_QUICK = {"act_s": 0.7, "init_s": 0.7, "episode_s": 2.0}


def _flood(name: str, what: str, act: str) -> Attack:
    return Attack(name, "exhaustion", what, policy(act))


def _endless(name: str, what: str, program: str) -> Attack:
    return Attack(name, "exhaustion", what, program, limits=_QUICK, stopped_by=TIMEOUTS)


_MEMORY = """
kept, size = [], 0
try:
    while size < 2 << 30:
        kept.append(bytearray(b"x") * (16 << 20))
        size += 16 << 20
except MemoryError as error:
    kept.clear()
    say("stopped at", size, error)
if size > 1 << 29:
    won("took", size, "bytes")
"""

_PAGES = """
import mmap
kept = []
for kind in (mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS):
    try:
        while len(kept) < 128:
            page = mmap.mmap(-1, 16 << 20, kind)
            page[:: 4096] = b"x" * len(page[:: 4096])
            kept.append(page)
    except (OSError, MemoryError, ValueError) as error:
        say("stopped at", len(kept), error)
if len(kept) > 32:
    won("mapped", len(kept) << 4, "MB")
"""

_DISK = """
total = 0
for number in range(4000):
    try:
        with open(os.path.join(os.environ["TMPDIR"], str(number)), "wb") as file:
            for _ in range(64):
                total += file.write(bytes(1 << 20))
    except OSError as error:
        say(total, error)
        if error.errno == 28:
            break
if total > 20 << 20:
    won("wrote", total, "bytes")
"""

_SPARSE = """
path = os.path.join(os.environ["TMPDIR"], "sparse")
file = os.open(path, os.O_CREAT | os.O_RDWR)
works(os.ftruncate, file, 1 << 40)
works(os.posix_fallocate, file, 0, 1 << 30)
works(os.pwrite, file, b"x", 1 << 40)
for number in (1, 2):
    works(os.ftruncate, number, 1 << 34)
"""

_FILES = """
made = 0
try:
    for made in range(100_000):
        os.close(os.open(os.path.join(os.environ["TMPDIR"], str(made)), os.O_CREAT | os.O_WRONLY))
except OSError as error:
    say(made, error)
if made > 5000:
    won("made", made, "files")
"""

_DEEP = """
os.chdir(os.environ["TMPDIR"])
depth = 0
try:
    for depth in range(100_000):
        os.mkdir("d")
        os.chdir("d")
except OSError as error:
    say(depth, error)
raise SystemExit
"""

_DESCRIPTORS = """
opened = []
try:
    while len(opened) < 5000:
        opened.append(os.open("/dev/null", os.O_RDONLY))
except OSError as error:
    say(len(opened), error)
if len(opened) > 1000:
    won("opened", len(opened))
"""

_THREADS = """
threading.stack_size(32768)
gate, started = threading.Event(), 0
try:
    while started < 2000:
        threading.Thread(target=gate.wait, daemon=True).start()
        started += 1
except (RuntimeError, MemoryError) as error:
    say(started, error)
if started > 500:
    won("started", started, "threads")
gate.set()
"""

_SLEEP_ON = """
import signal
for number in range(1, 64):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64))
while True:
    try:
        time.sleep(1)
    except BaseException:
        pass
"""

_STORM = """
def spin():
    while True:
        sum(range(1000))
for _ in range(32):
    threading.Thread(target=spin, daemon=True).start()
spin()
"""

ATTACKS = (
    _flood("memory-flood", "takes 2 GB", _MEMORY),
    _flood("page-flood", "maps 2 GB, private and shared", _PAGES),
    _flood(
        "raise-limits",
        "raises its resource limits and those of other processes",
        "import resource\nfor what in range(16):\n    works(resource.setrlimit, what, (-1, -1)); wins('prlimit64', 0, what, struct.pack('<QQ', 2**64 - 1, 2**64 - 1), 0)\n"
        "    for pid in (1, TARGET['sibling_pid'], TARGET['host_pid']):\n        wins('prlimit64', pid, what, struct.pack('<QQ', 1, 1), 0)",
    ),
    _flood("disk-flood", "fills its scratch folder and the disk behind it", _DISK),
    _flood("sparse-files", "makes files and its output larger than any disk", _SPARSE),
    _flood("file-flood", "makes a hundred thousand files", _FILES),
    _flood("deep-folders", "nests folders too deep for clean-up to follow", _DEEP),
    _flood(
        "output-flood",
        "prints without end",
        "for _ in range(2000):\n    print('x' * 10_000)\n    print('y' * 10_000, file=sys.stderr)",
    ),
    _flood(
        "raw-output-flood",
        "writes to its standard output below Python without end",
        "try:\n    while True:\n        os.write(1, b'x' * (1 << 20))\nexcept OSError as error:\n    say(error)\nos._exit(3)",
    ),
    _flood("descriptor-flood", "opens thousands of descriptors", _DESCRIPTORS),
    _flood("thread-flood", "starts thousands of threads", _THREADS),
    _flood(
        "lock-memory",
        "locks memory and keeps it from being swapped",
        "area = ctypes.create_string_buffer(1 << 20)\nwins('mlock', ctypes.addressof(area), 1 << 20); wins('mlockall', 3); wins('mlock2', ctypes.addressof(area), 4096, 1)",
    ),
    Attack(
        "recursion",
        "exhaustion",
        "recurses until the stack ends",
        policy("sys.setrecursionlimit(10**9)\ndef down(n):\n    return [down(n + 1)]\ndown(0)"),
        limits={"act_s": 2.0},
        stopped_by=TIMEOUTS | {"act_error", "oom"},
    ),
    _endless("loop-in-act", "never returns from act", policy("while True: pass")),
    _endless("loop-in-reset", "never returns from reset", policy(reset="while True: pass")),
    _endless("loop-in-constructor", "never returns from its constructor", policy(init="while True: pass")),
    _endless("loop-in-import", "never finishes being imported", policy(top="while True: pass")),
    _endless("sleep", "sleeps, with every signal ignored and every exception swallowed", policy(_SLEEP_ON)),
    _endless("one-long-operation", "computes in C, where nothing interrupts it", policy("10 ** (10 ** 9)")),
    _endless("thread-storm", "keeps 32 threads busy", policy(_STORM)),
    Attack(
        "slow-steps",
        "exhaustion",
        "takes almost the full time limit for every act",
        policy("time.sleep(0.6)"),
        limits={"episode_s": 0.5},
        stopped_by=TIMEOUTS,
    ),
)
