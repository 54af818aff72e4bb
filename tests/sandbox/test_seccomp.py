"""Filters of system calls, run by an interpreter of classic BPF on the numbers and arguments of calls."""

from __future__ import annotations

import errno
import platform
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from heredity._core.errors import IsolationError
from heredity.sandbox import bubblewrap_root, isolation
from heredity.sandbox.seccomp import ALLOW, Rule, call_numbers, compile_filter, refuse

X86_64, AARCH64, I386 = 0xC000003E, 0xC00000B7, 0x40000003
KILLED = 0x80000000
EPERM, ENOSYS = refuse(errno.EPERM), refuse(errno.ENOSYS)


def decide(program: bytes, number: int, *arguments: int, architecture: int) -> int:
    """Return the action of a filter on a call, as the kernel's interpreter would."""
    data = struct.pack("=IIQ6Q", number, architecture, 0, *arguments, *(0,) * (6 - len(arguments)))
    steps = list(struct.iter_unpack("=HBBI", program))
    at, value = 0, 0
    while True:
        code, if_true, if_false, operand = steps[at]
        at += 1
        match code:
            case 0x20:
                (value,) = struct.unpack_from("=I", data, operand)
            case 0x54:
                value &= operand
            case 0x15:
                at += if_true if value == operand else if_false
            case 0x35:
                at += if_true if value >= operand else if_false
            case 0x06:
                return operand
            case _:
                raise AssertionError(f"no instruction of a filter: {code:#x}")


@pytest.fixture(params=[("x86_64", X86_64), ("aarch64", AARCH64)], ids=lambda machine: machine[0])
def architecture(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    name, number = request.param
    monkeypatch.setattr(platform, "machine", lambda: name)
    cached = (call_numbers, isolation.seccomp_program, bubblewrap_root.seccomp_program)
    for function in cached:
        function.cache_clear()
    yield number
    for function in cached:
        function.cache_clear()


def test_policies_may_make_the_listed_calls_alone(architecture: int) -> None:
    program, numbers = isolation.seccomp_program(), call_numbers()
    allowed = {numbers[name] for name in isolation.SYSCALLS if name in numbers}
    partly = {numbers[name] for name in ("clone", "clone3", "prctl", "prlimit64", "ioctl", "fcntl")}
    for number in range(600):
        if number not in partly:
            expected = ALLOW if number in allowed else EPERM
            assert decide(program, number, architecture=architecture) == expected, number
    assert decide(program, numbers["clone3"], architecture=architecture) == ENOSYS


@pytest.mark.parametrize(
    ("name", "arguments", "action"),
    [
        ("clone", (0x003D0F00,), ALLOW),  # as the C library makes a thread
        ("clone", (0x01200011,), EPERM),  # as it forks
        ("clone", (0x10000 << 32,), EPERM),
        ("prctl", (15,), ALLOW),
        ("prctl", (15 | 1 << 32,), EPERM),
        ("prctl", (22, 2), EPERM),  # PR_SET_SECCOMP
        ("prlimit64", (0, 7, 0), ALLOW),
        ("prlimit64", (0, 7, 0x7FFF_1234_0000), EPERM),
        ("prlimit64", (0, 7, 1 << 40), EPERM),
        ("prlimit64", (99, 7, 0), EPERM),
        ("ioctl", (1, 0x5401), ALLOW),
        ("ioctl", (1, 0x5412), EPERM),  # TIOCSTI writes into a terminal's input
        ("fcntl", (3, 7), ALLOW),
        ("fcntl", (3, 8), EPERM),  # F_SETOWN
        ("fcntl", (3, 1030), ALLOW),
    ],
)
def test_calls_are_allowed_by_their_arguments(
    architecture: int, name: str, arguments: tuple[int, ...], action: int
) -> None:
    assert decide(isolation.seccomp_program(), call_numbers()[name], *arguments, architecture=architecture) == action


@pytest.mark.parametrize("forks", [True, False])
def test_commands_may_make_every_call_but_the_denied_ones(architecture: int, forks: bool) -> None:
    program, numbers = bubblewrap_root.seccomp_program(forks=forks), call_numbers()
    for name, number in numbers.items():
        expected = ENOSYS if name.startswith("io_uring") else EPERM if name in bubblewrap_root._DENIED else ALLOW
        if not forks and name in ("clone", "fork", "vfork", "memfd_create", "clone3"):
            expected = ENOSYS if name == "clone3" else EPERM
        assert decide(program, number, architecture=architecture) == expected, name
    if not forks:
        assert decide(program, numbers["clone"], 0x10000, architecture=architecture) == ALLOW
    opened = bubblewrap_root.seccomp_program(("chroot",))
    assert decide(opened, numbers["chroot"], architecture=architecture) == ALLOW


def test_calls_by_another_architecture_end_the_process(architecture: int) -> None:
    others = {X86_64, AARCH64, I386} - {architecture}
    for program in (isolation.seccomp_program(), bubblewrap_root.seccomp_program()):
        for other in others:
            assert decide(program, 1, architecture=other) == KILLED
        assert decide(program, 0x40000000 | 1, architecture=architecture) == KILLED
        assert decide(program, 0xFFFFFFFE, architecture=architecture) == KILLED
        assert decide(program, 0xFFFFFFFF, architecture=architecture) != KILLED


def test_the_first_rule_that_fits_decides(architecture: int) -> None:
    rules = [Rule("read", ALLOW, ((0, 3), (2, 5))), Rule("read", refuse(13), ((0, 3),)), Rule("read", refuse(5))]
    program, number = compile_filter(rules, EPERM), call_numbers()["read"]
    assert decide(program, number, 3, 0, 5, architecture=architecture) == ALLOW
    assert decide(program, number, 3, 0, 6, architecture=architecture) == refuse(13)
    assert decide(program, number, 4, 0, 5, architecture=architecture) == refuse(5)


def test_an_unknown_machine_is_refused_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(IsolationError, match="riscv64; use a machine with x86_64 or aarch64"):
        compile_filter([], ALLOW)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the header is of x86_64")
def test_the_numbers_are_those_of_the_system_s_headers() -> None:
    header = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
    if not header.exists():
        pytest.skip("the system has no headers of the kernel")
    words = (line.split() for line in header.read_text().splitlines() if line.startswith("#define __NR_"))
    told = {name.removeprefix("__NR_"): int(number) for _, name, number in words}
    numbers = call_numbers()
    assert {name: number for name, number in told.items() if numbers.get(name, number) != number} == {}
    assert set(isolation.SYSCALLS) & set(told) <= set(numbers)


@pytest.mark.skipif(sys.platform != "linux", reason="seccomp is Linux's")
def test_the_kernel_takes_a_filter_and_obeys_it() -> None:
    code = f"""
import ctypes, os, struct
program = {compile_filter([Rule("getpriority", refuse(77)), Rule("prctl", refuse(78), ((0, 15),))], ALLOW)!r}
libc = ctypes.CDLL(None, use_errno=True)
kept = ctypes.create_string_buffer(program, len(program))
class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_void_p)]
assert libc.prctl(38, 1, 0, 0, 0) == 0
given = Filter(len(program) // 8, ctypes.addressof(kept))
assert libc.prctl(22, 2, ctypes.byref(given), 0, 0) == 0, os.strerror(ctypes.get_errno())
assert libc.getpriority(0, 0) == -1 and ctypes.get_errno() == 77
assert libc.prctl(15, b"name", 0, 0, 0) == -1 and ctypes.get_errno() == 78
assert libc.prctl(3, 0, 0, 0, 0) >= 0
os.getpid()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
