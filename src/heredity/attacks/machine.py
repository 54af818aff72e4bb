"""Attacks on the machine: system calls, processes and signals, exhaustion of its resources."""

from __future__ import annotations

from heredity.attacks.contract import TIMEOUTS, Attack, policy


def _calls(name: str, what: str, act: str) -> Attack:
    return Attack(name, "kernel", what, policy(act))


_SPACE = "space = ctypes.create_string_buffer(4096)\n"

_MACHINE_CODE = """
import mmap, platform
if platform.machine() != "x86_64":
    say("not this machine's code")
    return 0
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write({code})
address = ctypes.addressof(ctypes.c_char.from_buffer(page))
result = ctypes.CFUNCTYPE(ctypes.c_long)(address)()
say("returned", result)
if result >= 0:
    won("the call gave", result)
"""

_INT80_SOCKETPAIR = "b'\\x53\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\x5b\\x48\\x98\\xc3'"
"""push rbx; mov eax, 20 (getpid of the 32-bit interface); int 0x80; pop rbx; cdqe; ret."""

_X32_GETPID = "b'\\xb8\\x27\\x00\\x00\\x40\\x0f\\x05\\xc3'"
"""mov eax, 0x40000000 + 39 (getpid of the x32 interface); syscall; ret."""

_RAW_SOCKET = "b'\\xb8\\x29\\x00\\x00\\x00\\xbf\\x02\\x00\\x00\\x00\\xbe\\x01\\x00\\x00\\x00\\x31\\xd2\\x0f\\x05\\xc3'"
"""mov eax, 41 (socket); mov edi, 2; mov esi, 1; xor edx, edx; syscall; ret."""

_OWNER = """
import fcntl
for owner in (1, os.getppid(), TARGET["sibling_pid"], os.getpid()):
    for number in (9, 40):
        works(fcntl.fcntl, 3, 8, owner)
        works(fcntl.fcntl, 3, 10, number)
        fails(fcntl.fcntl, 3, 4, fcntl.fcntl(3, 3) | 0o20000)
"""

KERNEL = (
    _calls(
        "io-uring",
        "does file and network operations through io_uring",
        _SPACE
        + "wins('io_uring_setup', 4, space); wins('io_uring_enter', 3, 1, 0, 0, 0, 0); wins('io_uring_register', 3, 0, space, 1)",
    ),
    _calls(
        "ptrace",
        "traces its parent, the first process and another one",
        "wins('ptrace', 0, 0, 0, 0)\nfor pid in (1, os.getppid(), TARGET['sibling_pid'], TARGET['host_pid']):\n"
        "    wins('ptrace', 16, pid, 0, 0); wins('ptrace', 0x4206, pid, 0, 0)",
    ),
    _calls(
        "memory-of-others",
        "reads and writes the memory of other processes",
        _SPACE
        + "local = struct.pack('<QQ', ctypes.addressof(space), 4096)\nremote = struct.pack('<QQ', 0x400000, 4096)\n"
        "for pid in (1, os.getppid(), TARGET['sibling_pid'], TARGET['host_pid']):\n"
        "    wins('process_vm_readv', pid, local, 1, remote, 1, 0); wins('process_vm_writev', pid, local, 1, remote, 1, 0)\n"
        "    wins('kcmp', pid, pid, 0, 0, 0); wins('process_madvise', pid, local, 1, 4, 0)",
    ),
    _calls(
        "memory-files",
        "runs code from a file that exists only in memory",
        "wins('memfd_create', b'x', 0); wins('memfd_secret', 0)",
    ),
    _calls(
        "bpf-and-perf",
        "loads programs into the kernel and watches others by its counters",
        _SPACE + "wins('bpf', 0, space, 72); wins('bpf', 5, space, 72)\n"
        "attr = struct.pack('<II', 1, 128) + bytes(120)\nwins('perf_event_open', attr, 0, -1, -1, 0); wins('perf_event_open', attr, -1, 0, -1, 0)",
    ),
    _calls(
        "page-faults",
        "handles page faults itself, to hold the kernel up",
        "wins('userfaultfd', 0); wins('userfaultfd', 1)",
    ),
    _calls(
        "keys",
        "reads and adds keys of the kernel's key rings",
        "wins('keyctl', 0, -3, 1, 0, 0); wins('add_key', b'user', b'x', b'y', 1, -3); wins('request_key', b'user', b'x', 0, -3)",
    ),
    _calls(
        "mounts",
        "mounts, unmounts and moves file systems",
        _SPACE
        + "wins('mount', b'none', b'/tmp', b'tmpfs', 0, 0); wins('mount', b'/', b'/', 0, 4096, 0); wins('umount2', b'/proc', 2)\n"
        "wins('open_tree', -100, b'/', 1); wins('fsopen', b'tmpfs', 0); wins('move_mount', -100, b'/tmp', -100, b'/', 0)\n"
        "wins('mount_setattr', -100, b'/', 0x8000, bytes(8) + struct.pack('<QQQ', 1, 0, 0), 32)",
    ),
    _calls(
        "namespaces",
        "makes and enters namespaces",
        "for flag in (0x20000, 0x10000000, 0x20000000, 0x40000000, 0x8000000, 0x4000000):\n    wins('unshare', flag)\n"
        "wins('setns', 3, 0)",
    ),
    _calls(
        "new-root",
        "changes its root folder",
        "wins('chroot', b'/'); wins('chroot', os.environ['TMPDIR'].encode()); wins('pivot_root', b'.', b'.')",
    ),
    _calls(
        "kernel-modules",
        "loads modules, another kernel, and swaps",
        _SPACE
        + "wins('init_module', space, 4096, b''); wins('finit_module', 3, b'', 0); wins('kexec_load', 0, 0, 0, 0)\n"
        "wins('swapon', b'/dev/vda', 0); wins('acct', 0); wins('syslog', 3, space, 4096); wins('delete_module', b'x', 0)",
    ),
    _calls(
        "privileges",
        "changes its user, its capabilities and its personality",
        "wins('setuid', 0); wins('setreuid', 0, 0); wins('setresuid', 0, 0, 0); wins('setgid', 0); wins('setgroups', 0, 0); wins('setfsuid', -2)\n"
        "wins('capset', struct.pack('<Ii', 0x20080522, 0), b'\\xff' * 24); wins('personality', 0x0040000); wins('iopl', 3); wins('ioperm', 0, 8, 1)",
    ),
    _calls(
        "process-control",
        "turns off its restrictions by prctl and seccomp",
        "for option in (4, 8, 21, 22, 23, 24, 28, 36, 38, 47, 53, 59, 0x59616d61):\n    wins('prctl', option, 0 if option in (22, 38) else 1, 0, 0, 0)\n"
        "wins('seccomp', 1, 0, struct.pack('<HxxxxxxQ', 0, 0)); wins('modify_ldt', 0, 0, 0)",
    ),
    _calls(
        "shared-memory",
        "shares memory with other processes",
        "wins('shmget', 0x4845, 4096, 0o1666); wins('shmget', 0, 4096, 0o1666); wins('semget', 0x4845, 1, 0o1666); wins('msgget', 0x4845, 0o1666)\n"
        "works(open, '/dev/shm/x', 'w'); wins('mq_open', b'x', 0o102, 0o666, 0)",
    ),
    _calls(
        "file-watches",
        "watches the host's files",
        "wins('inotify_init'); wins('inotify_init1', 0); wins('fanotify_init', 0, 0)\nimport fcntl\n"
        "folder = fails(os.open, '/usr/lib', os.O_RDONLY)\nworks(fcntl.fcntl, 3, 1026, 63)",
    ),
    _calls(
        "process-descriptors",
        "takes descriptors out of other processes",
        "for pid in (1, os.getppid(), TARGET['sibling_pid'], TARGET['host_pid']):\n"
        "    handle = wins('pidfd_open', pid, 0)\n    wins('pidfd_getfd', max(handle, 3), 3, 0); wins('pidfd_send_signal', max(handle, 3), 9, 0, 0)",
    ),
    _calls(
        "terminal-input",
        "types into the terminal that the engine was started from",
        "letter = ctypes.create_string_buffer(b'x')\nfor number in range(5):\n    wins('ioctl', number, 0x5412, letter); wins('ioctl', number, 0x541C, letter)",
    ),
    _calls("descriptor-owner", "has the kernel send signals for it, as the owner of a pipe", _OWNER),
    _calls(
        "host-settings",
        "changes the clock, the host's name, and restarts the machine",
        _SPACE
        + "wins('settimeofday', space, 0); wins('clock_settime', 0, space); wins('sethostname', b'x', 1); wins('setdomainname', b'x', 1)\n"
        "wins('reboot', 0xfee1dead, 672274793, 0x89ABCDEF, 0); wins('quotactl', 0, 0, 0, 0); wins('vhangup')",
    ),
    _calls(
        "timers-and-events",
        "makes timers, events and signals, with and without descriptors",
        "wins('timer_create', 0, 0, bytes(8)); wins('setitimer', 0, bytes(32), 0); wins('alarm', 1); wins('eventfd2', 0, 0)\n"
        "wins('signalfd4', -1, bytes(8), 8, 0); wins('timerfd_create', 1, 0); wins('epoll_create1', 0)",
    ),
    Attack(
        "calls-of-32-bits",
        "kernel",
        "enters the kernel by the 32-bit interface, whose numbers mean other calls",
        policy(_MACHINE_CODE.replace("{code}", _INT80_SOCKETPAIR)),
    ),
    Attack(
        "calls-of-x32",
        "kernel",
        "enters the kernel by the x32 interface",
        policy(_MACHINE_CODE.replace("{code}", _X32_GETPID)),
    ),
    Attack(
        "machine-code",
        "kernel",
        "writes machine code that makes a socket, past every library",
        policy(_MACHINE_CODE.replace("{code}", _RAW_SOCKET)),
    ),
)


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

_LASTING_THREADS = """
def stay():
    while True:
        time.sleep(0.01)
for _ in range(8 if self.t == 1 else 0):
    threading.Thread(target=stay, daemon=False).start()
"""

PROCESSES = (
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
    _process("surviving-threads", "leaves threads behind that go on after its episode", _LASTING_THREADS),
    Attack(
        "threads-after-exit",
        "processes",
        "ends its main thread and goes on in another",
        policy(_LASTING_THREADS + "\ncall('exit', 0)"),
        limits={"act_s": 0.7},
        stopped_by=TIMEOUTS,
    ),
    _process(
        "exit-hooks",
        "goes on while the interpreter ends",
        "import atexit\natexit.register(lambda: time.sleep(60))\nthreading.Thread(target=time.sleep, args=(60,)).start()\nraise SystemExit",
    ),
)


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

EXHAUSTION = (
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
