"""Building environments from a worker's specification."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import os
import subprocess
import sys
import warnings
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heredity._core.errors import ConfigError, HostError, MissingExtraError, UnknownNameError, described
from heredity._core.outside import resolved

if TYPE_CHECKING:
    import gymnasium

_BACKENDS = ("egl", "osmesa")
_PROBE = "import mujoco; c = mujoco.GLContext(16, 16); c.make_current(); c.free()"
_MUJOCO_FAMILIES = ("mujoco", "robotics")


def prepare_drawing(family: str) -> None:
    """Set the environment variables that make simulators render without a screen.

    Existing values are kept (except SDL's dummy driver where it renders nothing), and with a screen nothing is set. For
    MuJoCo, `MUJOCO_GL` becomes the first of egl and osmesa that works, found by trying each in a child process (about a
    second, once per process and its children).

    Args:
        family: label of the simulator family.

    Raises:
        HostError: if a simulator on MuJoCo can render with neither.
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


def make_from_spec(spec: Mapping[str, Any], render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
    """Build the environment that `EnvironmentSpec.to_worker` describes, in any process.

    It equals the result of `gymnasium.make`, without the passive checker, which changes no result but takes time.

    Args:
        spec: JSON values: env_id, entry_id, kwargs, modules, max_episode_steps; optionally family, renew, extra and
            child, which runs it in a separate process.
        render_mode: such as `"rgb_array"`; None disables rendering. May set environment variables of this process (see
            `prepare_drawing`).

    Raises:
        MissingExtraError: if a dependency is not installed.
        UnknownNameError: if gymnasium does not know the environment.
        HostError: if the environment's own code fails, or this machine cannot render.
    """
    if spec.get("child"):
        from heredity.kinds.policy.environments.child import ChildEnvironment

        return ChildEnvironment(spec, render_mode)
    if render_mode is not None:
        prepare_drawing(spec.get("family", ""))
    import_modules(spec["modules"], env_id=spec["env_id"], extra=spec.get("extra"))
    if not spec.get("renew"):
        return _make(spec, render_mode)
    from heredity.kinds.policy.environments.renewing import Renewed

    return Renewed(lambda: _make(spec, render_mode))


def is_file(module: str) -> bool:
    """Return True if a module is given as the path of its file, such as `/home/me/corridor.py`."""
    return module.endswith(".py")


def import_modules(modules: Sequence[str], *, env_id: str, extra: str | None = None) -> None:
    """Import the modules that register an environment with gymnasium.

    Args:
        modules: their names, or paths of files. A file is imported under its name, and can import modules next to
            it.
        env_id: the environment that needs them.
        extra: the extra of Heredity that installs them.

    Raises:
        MissingExtraError: if a module of one of our extras is not installed.
        ConfigError: if another module cannot be found, or a file has the name of another module.
        HostError: if a module fails while it is imported.
    """
    for given in modules:
        module = _beside(Path(given), env_id) if is_file(given) else given
        if module in sys.modules:
            continue
        try:
            with _quiet():
                importlib.import_module(module)
        except ModuleNotFoundError as error:
            if extra:
                raise MissingExtraError(env_id, extra) from error
            raise ConfigError(
                f"environment {env_id!r} needs the module {error.name!r}, which cannot be found; "
                "install it, or add its folder to PYTHONPATH"
            ) from error
        except Exception as error:
            raise HostError(
                f"module {module!r} of environment {env_id!r} failed to load: {described(error)}"
            ) from error


def _beside(file: Path, env_id: str) -> str:
    """Return the module name of a file and make it importable."""
    if not file.is_file():
        raise ConfigError(f"environment {env_id!r} needs the file {file}, which is not there; correct its path")
    if not file.stem.isidentifier():
        raise ConfigError(f"{file} cannot be imported by its name; give it one of letters, digits and _")
    if str(file.parent) not in sys.path:
        sys.path.append(str(file.parent))
    importlib.invalidate_caches()
    spec = importlib.util.find_spec(file.stem)
    if spec is None or spec.origin is None or resolved(Path(spec.origin)) != resolved(file):
        raise ConfigError(f"{file} has the name of another module ({spec and spec.origin}); rename it")
    return file.stem


def _make(spec: Mapping[str, Any], render_mode: str | None) -> gymnasium.Env[Any, Any]:
    import gymnasium
    from gymnasium import error as gym_error

    env_id = spec["env_id"]
    options = dict(spec["kwargs"])
    if render_mode is not None:
        options["render_mode"] = render_mode
    try:
        with _quiet():
            return gymnasium.make(
                spec["entry_id"], max_episode_steps=spec["max_episode_steps"], disable_env_checker=True, **options
            )
    except gym_error.UnregisteredEnv as error:
        raise UnknownNameError("environment", env_id, gymnasium.registry) from error
    except (gym_error.DependencyNotInstalled, ModuleNotFoundError) as error:
        if spec.get("extra"):
            raise MissingExtraError(env_id, spec["extra"]) from error
        raise HostError(f"environment {env_id!r} needs something that is not installed: {error}") from error
    except Exception as error:
        if render_mode is not None and isinstance(error, TypeError) and "'render_mode'" in str(error):
            raise ConfigError(f"environment {env_id!r} cannot be drawn: it takes no render_mode") from error
        raise HostError(f"environment {env_id!r} could not be built: {error!r}") from error


@contextlib.contextmanager
def _quiet() -> Generator[None]:
    # Families print notices and warn of newer versions; the version is chosen on purpose and recorded.
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stderr(io.StringIO()),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        yield
