"""Drawing without a screen: what simulators must be told before they draw."""

from __future__ import annotations

import os
import subprocess
import sys

from heredity.errors import HostError

_BACKENDS = ("egl", "osmesa")
_PROBE = "import mujoco; c = mujoco.GLContext(16, 16); c.make_current(); c.free()"
_MUJOCO_FAMILIES = ("mujoco", "robotics")


def prepare_drawing(family: str) -> None:
    """Set what simulators read from the process's environment so that they draw without a screen.

    What is set already is left alone (but for SDL's dummy driver where it draws nothing), and nothing is set where there
    is a screen. For MuJoCo, `MUJOCO_GL` becomes the first of egl and osmesa that works, found by trying each in a child
    process (about a second, once in a process and those it starts).

    Args:
        family: label of the simulator family.

    Raises:
        HostError: if a simulator on MuJoCo can draw with neither.
    """
    if any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")):
        return
    os.environ.setdefault("SDL_AUDIODRIVER", "dummy")
    if family == "highway":
        # highway-env draws black pictures under SDL's dummy driver.
        if os.environ.get("SDL_VIDEODRIVER", "dummy") == "dummy":
            os.environ["SDL_VIDEODRIVER"] = "offscreen"
        return
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    if family not in _MUJOCO_FAMILIES or os.environ.get("MUJOCO_GL"):
        return
    backend = next((b for b in _BACKENDS if _draws(b)), None)
    if backend is None:
        raise HostError(
            "MuJoCo can draw with neither egl nor osmesa here; install libegl1 or libosmesa6 "
            "(apt-get install libosmesa6), or set MUJOCO_GL"
        )
    os.environ["MUJOCO_GL"] = backend
    os.environ.setdefault("PYOPENGL_PLATFORM", backend)


def _draws(backend: str) -> bool:
    environment = {**os.environ, "MUJOCO_GL": backend, "PYOPENGL_PLATFORM": backend}
    try:
        probe = subprocess.run(
            [sys.executable, "-c", _PROBE],
            env=environment,
            capture_output=True,
            timeout=60,
            check=False,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        return False
    return probe.returncode == 0
