"""The sandbox of a browser: a script that a driver starts in place of the browser.

Inside are separate namespaces, the system's programs, a folder for downloads, and one port (it leads to the proxy).
Pages are foreign code: the browser's sandbox around each page is kept where this machine allows nested sandboxes.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from functools import cache
from pathlib import Path

from heredity._core.errors import ConfigError, IsolationError
from heredity.sandbox.bubblewrap_root import Root, available, bwrap, interpreter, seccomp_program, try_command

PORT = 3128
"""Port of the proxy on 127.0.0.1 of the browser's network."""

NAMES = (
    *("/usr/lib/chromium/chromium", "/usr/lib64/chromium-browser/chromium-browser", "/opt/google/chrome/chrome"),
    *("chromium", "chromium-browser", "google-chrome-stable", "google-chrome"),
)
"""Paths or names of the system's browser, in order of preference: the program before the script that starts it."""

DOWNLOADS = "downloads"
"""The folder next to the script that the browser writes to."""

_HERE = Path(__file__).parent
_INSIDE = "/opt/heredity"
_SOCKET = "/run/heredity/proxy.sock"
_FILTER = 9
_TMP_BYTES = 512 << 20
_MOST_PROCESSES = 4096  # including threads; a page has some twenty
_FILE_BYTES = 512 << 20
_POLICY_FOLDERS = ("/etc/chromium", "/etc/chromium-browser", "/etc/opt/chrome")
_POLICY = {
    "URLBlocklist": [
        *("file://*", "chrome://*", "devtools://*", "view-source:*", "chrome-untrusted://*"),
        *("chrome-extension://*", "filesystem://*", "ftp://*", "javascript://*"),
    ],
    "ExtensionInstallBlocklist": ["*"],
    "AlwaysOpenPdfExternally": True,
    "DnsOverHttpsMode": "off",
    "QuicAllowed": False,
    "WebRtcIPHandling": "disable_non_proxied_udp",
    "NetworkPredictionOptions": 2,
    "AutofillAddressEnabled": False,
    "AutofillCreditCardEnabled": False,
    "PasswordManagerEnabled": False,
    "SafeBrowsingProtectionLevel": 0,
    "SearchSuggestEnabled": False,
    "TranslateEnabled": False,
    "MetricsReportingEnabled": False,
    "BackgroundModeEnabled": False,
}


def find_browser(path: str = "") -> Path:
    """Return the program of the system's browser.

    Args:
        path: its path; empty to search for `NAMES`.

    Raises:
        ConfigError: if it does not exist.
    """
    path_found = shutil.which(path) if path else next(filter(None, map(shutil.which, NAMES)), None)
    if path_found is None:
        raise ConfigError(
            f"web.browser: {path!r} is not a program; give the path of Chromium, or leave it out"
            if path
            else f"no browser is installed (looked for {', '.join(NAMES)}); install one (Debian: apt-get install chromium), "
            "or set web.browser to its path"
        )
    return Path(path_found)


@cache
def nests() -> bool:
    """Return whether sandboxes can be nested, which the browser uses to isolate pages from itself."""
    inner = [bwrap(), "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "true"]
    try:
        return try_command(inner, nests=True).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def tier() -> str:
    """Return the isolation by name."""
    return "bubblewrap+seccomp" + ("+browser" if nests() else "")


def write_script(folder: Path, browser: Path, proxy: Path) -> Path:
    """Write the script that runs the browser in its sandbox, with the arguments that it is given.

    It writes its process id to `pid` and expects the ends of the browser's pipe as descriptors 3 and 4.

    Args:
        folder: the folder of the script, its files and the downloads; not writable by others.
        browser: the browser's program (see `find_browser`).
        proxy: the proxy's Unix socket.

    Returns:
        The script.

    Raises:
        IsolationError: if a browser cannot be confined here.
    """
    if (reason := available()) is not None:
        raise IsolationError(f"a browser cannot be confined: {reason}")
    nested, rules, policy = nests(), folder / "filter.bpf", folder / "policy.json"
    rules.write_bytes(seccomp_program(("chroot",) if nested else ()))
    policy.write_text(json.dumps(_POLICY), encoding="ascii")
    downloads = folder / DOWNLOADS
    downloads.mkdir(exist_ok=True)
    memory = {"/dev/shm": _TMP_BYTES, "/tmp": _TMP_BYTES}
    root = Root(_FILTER, memory, processes=_MOST_PROCESSES, nests=nested)
    root.show("/etc/fonts", optional=True)
    program = browser.resolve()
    if not program.is_relative_to("/usr"):
        root.show(program.parent)
    for path in _POLICY_FOLDERS:
        root.show(policy, f"{path}/policies/managed/heredity.json")
    for script in ("relay.py", "browser_first.py"):
        root.show(_HERE / script, f"{_INSIDE}/{script}")
    root.share(proxy, _SOCKET)
    root.share(downloads, downloads)
    first = [
        str(interpreter()),
        "-I",
        f"{_INSIDE}/browser_first.py",
        str(PORT),
        _SOCKET,
        str(_FILE_BYTES),
        str(program),
    ]
    variables = {"HOME": "/tmp", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    command = shlex.join(root.command(first, folder="/tmp", variables=variables))
    script, pid = folder / "browser", shlex.quote(str(folder / "pid"))
    script.write_text(
        f'#!/bin/sh\necho $$ > {pid}\nexec {command} "$@" {_FILTER}< {shlex.quote(str(rules))}\n', encoding="utf-8"
    )
    script.chmod(0o700)
    return script
