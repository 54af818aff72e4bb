"""Network attacks: reaching the host, other machines and other processes."""

from __future__ import annotations

from heredity.attacks.contract import Attack, policy

_TOP = "import socket"


def _network(name: str, what: str, act: str) -> Attack:
    return Attack(name, "network", what, policy(act, top=_TOP))


ATTACKS = (
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
