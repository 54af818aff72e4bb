"""Building environments from what a worker is told about them."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import sys
import warnings
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heredity.environments.drawing import prepare_drawing
from heredity.errors import ConfigError, HostError, MissingExtraError, UnknownNameError, described
from heredity.outside import resolved

if TYPE_CHECKING:
    import gymnasium


def make_from_spec(spec: Mapping[str, Any], render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
    """Build the environment that `EnvironmentSpec.to_worker` describes, in any process.

    It is what `gymnasium.make` gives, without the passive checker, which changes no result but takes time.

    Args:
        spec: JSON values: env_id, entry_id, kwargs, modules, max_episode_steps; optionally family, renew, extra and child,
            which runs it in a process of its own.
        render_mode: such as `"rgb_array"`; None draws nothing. It may set variables of this process's environment (see
            `prepare_drawing`).

    Raises:
        MissingExtraError: if something it needs is not installed.
        UnknownNameError: if gymnasium does not know the environment.
        HostError: if the environment's own code fails, or nothing can be drawn on this machine.
    """
    if spec.get("child"):
        from heredity.environments.child import ChildEnvironment

        return ChildEnvironment(spec, render_mode)
    if render_mode is not None:
        prepare_drawing(spec.get("family", ""))
    import_modules(spec["modules"], env_id=spec["env_id"], extra=spec.get("extra"))
    if not spec.get("renew"):
        return _make(spec, render_mode)
    from heredity.environments.renewing import Renewed

    return Renewed(lambda: _make(spec, render_mode))


def is_file(module: str) -> bool:
    """Return whether a module is given by the path of its file, such as `/home/me/corridor.py`."""
    return module.endswith(".py")


def import_modules(modules: Sequence[str], *, env_id: str, extra: str | None = None) -> None:
    """Import what registers an environment with gymnasium.

    Args:
        modules: their names, or paths of files. A file is imported under its own name, and finds what lies beside it.
        env_id: what needs them.
        extra: of ours, that brings them.

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
    """Return the name of the module that a file is, which can be imported from now on."""
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
