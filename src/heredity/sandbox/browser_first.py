"""The first process of a browser's sandbox. Standard library only, with `relay.py` in the same folder.

    browser_first.py PORT SOCKET FILE_BYTES COMMAND [ARGUMENT ...]

The sandbox's network contains only this port of 127.0.0.1, which leads to the proxy's Unix socket. The browser is
driven over descriptors 3 and 4 (`--remote-debugging-pipe`), and ends the sandbox when it ends.
"""

from __future__ import annotations

import ctypes
import os
import resource
import socket
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # started with -I, which leaves the script's own folder out

import relay

_PIPE = (3, 4)


def main(arguments: list[str]) -> int:
    """Run a browser behind a relay and return its exit code."""
    port, path, file_bytes, *command = arguments
    relay.offer_to_the_kernel()
    ctypes.CDLL(None).prctl(relay.PR_SET_DUMPABLE, 0, 0, 0, 0)
    relay.raise_loopback()
    listener = socket.create_server(("127.0.0.1", int(port)), backlog=128)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(file_bytes), int(file_bytes)))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # A process is dumpable again after exec.
    child = subprocess.Popen(command, pass_fds=_PIPE)
    for descriptor in _PIPE:
        os.close(descriptor)
    return relay.Doors([(listener, path)]).serve_until(child.pid)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
