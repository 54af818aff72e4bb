"""Attacks on the kernel's interface: calls that a purely computing program never needs."""

from __future__ import annotations

from heredity.attacks.contract import Attack, policy


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

ATTACKS = (
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
