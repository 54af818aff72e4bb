"""What a suite needs of this machine, looked at before anything is started: all that is missing at once, each with its remedy.

Optional packages are looked for and not imported. Whoever offers something by an entry point may say which it needs, by a constant
of its module: `EXTRAS = {"local": ("torch", "transformers")}`, extra of Heredity to modules; the module of a kind of model, by a
function `check_model(rest)` that raises where the model `rest` is not there.
"""

from __future__ import annotations

import inspect
import os
import shutil
import ssl
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from heredity.configuration.config import Cell, Config
from heredity.configuration.tools import ToolSettings
from heredity.errors import ConfigError, HeredityError, MissingExtraError
from heredity.evolution.registry import METHODS
from heredity.experiments.config import cells
from heredity.experiments.measured import remember_measured
from heredity.experiments.outside_agents import agent_model, program_folders
from heredity.gateway.failures import unconnected
from heredity.gateway.settings import CLIENTS, MODELS, GatewaySettings, ProviderSettings
from heredity.launchers import available, check_command, launcher
from heredity.protocols.contract import Setting, SuiteContext
from heredity.protocols.registry import PROTOCOLS
from heredity.rollouts.kind import KINDS, Kind, check_tools
from heredity.sandbox import isolation
from heredity.sandbox.check import LEAST_DISK, Check
from heredity.sandbox.containers.backends import BACKENDS
from heredity.sandbox.gpus import GpuMachine
from heredity.tasks import Taskset
from heredity.tasks.registry import taskset

T = TypeVar("T")


def require(config: Config, folder: Path, machine: GpuMachine | None = None) -> list[str]:
    """Refuse a suite that cannot run here; return what is to be known of its tasksets.

    Raises:
        ConfigError: if anything is missing; the message has a line for each thing, with what to do.
    """
    checks = preflight(config, folder, machine)
    missing = [check for check in checks if check.needed and not check.ok]
    if missing:
        raise PreflightError([_line(check) for check in missing])
    return [f"{check.name.removeprefix(_NOTE)}: {check.detail}" for check in checks if check.name.startswith(_NOTE)]


def _line(check: Check) -> str:
    detail = " ".join(check.detail.splitlines())
    text = detail if check.name == _CONFIGURATION else f"{check.name}: {detail}"
    return f"{text}; {check.remedy}" if check.remedy else text


class PreflightError(ConfigError):
    """Something that a suite needs is not there; nothing was started.

    Attributes:
        lines: one for each thing, with what to do.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        several = [f"{len(lines)} things are missing, and nothing was started:", *(f"  {line}" for line in lines)]
        super().__init__(lines[0] if len(lines) == 1 else "\n".join(several))


def preflight(config: Config, folder: Path, machine: GpuMachine | None = None) -> list[Check]:
    """Look at everything that a suite needs, the servers of its models included; what several runs need is listed once.

    Args:
        config: the suite's configuration.
        folder: where it is to be kept.
        machine: where GPUs are; this machine's by default.

    Raises:
        ConfigError: if the configuration makes no runs at all.
    """
    suite = cells(config)
    looking = _Looking(config, PROTOCOLS.load(config.run.protocol).setting, suite, folder, machine or GpuMachine())
    listed = list(dict.fromkeys([*looking.all(), *looking.endpoints()]))
    # The check of a whole run may find again what was found by itself.
    missing = [check for check in listed if not check.ok and check.name != _CONFIGURATION]
    stated = {text for check in missing for text in (check.detail, check.remedy) if text}
    return [c for c in listed if c.name != _CONFIGURATION or not {c.detail, c.remedy} & stated]


_CONFIGURATION = "configuration"
_NOTE = "note on "


class _Looking:
    def __init__(
        self, config: Config, setting: Setting, suite: Sequence[Cell], folder: Path, machine: GpuMachine
    ) -> None:
        self._config, self._setting, self._suite = config, setting, suite
        self._folder, self._machine = folder, machine
        self._needs = [setting.needs(cell.config) for cell in suite]

    def all(self) -> Iterator[Check]:
        yield from _disk(self._folder)
        remember_measured(self._folder)
        named = (*self._config.run.tasksets, *(name for needs in self._needs for name in needs.tasksets))
        tasksets: dict[str, Taskset] = {}
        for name in dict.fromkeys(named):
            loaded, check = _tried(f"taskset {name}", lambda name=name: taskset(name))
            notes: Sequence[str] | None = None
            if loaded is not None:
                notes, check = _tried(f"taskset {name}", lambda loaded=loaded: loaded.info.notes)
            yield check
            yield from (Check(f"{_NOTE}{name}", True, False, note) for note in notes or ())
            if loaded is not None and notes is not None:
                tasksets[name] = loaded
        kinds = dict.fromkeys(one.info.kind for one in tasksets.values())
        for name in kinds:
            kind, check = _tried(f"kind of task {name}", lambda name=name: KINDS.load(name))
            yield from self._kind(kind) if kind else [check]
        if len(tasksets) < len(set(named)):  # Of what kind those are, nobody knows: but that they are confined.
            yield from self._confinement()
        if self._config.solver.tools:
            taking = [KINDS.load(name) for name in kinds if name in KINDS]
            yield _tried("solver.tools", lambda: check_tools(taking))[1]
            yield from self._tools(self._config.tools)
        for cell in self._suite:
            yield from self._evolver(cell)
        for name in dict.fromkeys(filter(None, self._models())):
            yield from _model(name, self._config.gateway)
        yield from self._gpus()
        for cell in self._suite:
            yield from self._checked(cell, tasksets)

    def endpoints(self) -> Iterator[Check]:
        gateway = self._config.gateway
        names = list(dict.fromkeys(filter(None, self._models())))
        members = {name: gateway.routes[name].models if name in gateway.routes else [name] for name in names}
        asked = list(dict.fromkeys(member for several in members.values() for member in several))
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            checks = dict(zip(asked, pool.map(_endpoint, asked, map(gateway.provider, asked)), strict=True))
        for several in members.values():
            looked = [check for name in several if (check := checks[name]) is not None]
            # A route does with one of its models.
            answered = len(several) > 1 and (len(looked) < len(several) or any(check.ok for check in looked))
            yield from (replace(check, needed=not answered) for check in looked)

    def _models(self) -> Iterator[str]:
        for cell, needs in zip(self._suite, self._needs, strict=True):
            gateway = cell.config.gateway
            yield from (gateway.execution, gateway.judge, *needs.models)
            yield agent_model(cell) if cell.evolver.outside else gateway.optimisation

    def _tools(self, given: ToolSettings) -> Iterator[Check]:
        from heredity.team.tools.task_tools import lacking

        for name, check in lacking(given, unsafe=self._config.engine.unsafe):
            yield _tried(name, check)[1]

    def _kind(self, kind: Kind) -> Iterator[Check]:
        needs, config = kind.needs, self._config
        # The module of a kind is that of what opens its runners.
        yield from _extras(f"kind of task {kind.name}", kind.open)
        for cell in self._suite:
            yield _tried(f"kind of task {kind.name}", lambda cell=cell: kind.check(cell.config.gateway.execution))[1]
        yield from self._confinement()
        if needs.commands:
            yield self._bubblewrap
        if needs.containers:
            name = config.engine.containers
            yield _tried(f"containers {name}", lambda: BACKENDS.load(name))[1]
            if name == "bubblewrap":
                yield self._bubblewrap
            elif name == "docker":
                here = shutil.which("docker") or shutil.which("podman")
                yield Check(
                    "docker or podman", here is not None, True, here or "none is installed", "install one of them"
                )

    def _confinement(self) -> Iterator[Check]:
        for layer in () if self._config.engine.unsafe else self._layers:
            yield Check(layer.layer, layer.works, True, layer.detail, layer.remedy)

    @cached_property
    def _layers(self) -> list[isolation.LayerReport]:
        return isolation.probe()

    @cached_property
    def _bubblewrap(self) -> Check:
        problem = available()
        detail, _, remedy = (problem or "works here").partition("; ")
        return Check("bubblewrap", problem is None, True, detail, remedy)

    def _evolver(self, cell: Cell) -> Iterator[Check]:
        settings = cell.evolver
        if settings.method is not None:
            method, check = _tried(f"method {settings.method}", lambda: METHODS.load(settings.method or ""))
            yield check
            yield from _extras(f"method {settings.method}", method)
            return
        if not cell.config.engine.unsafe:
            yield self._bubblewrap
        if settings.tools:
            yield from self._tools(cell.config.agent_tools)
        if settings.launcher is not None:
            name = settings.launcher
            yield _tried(f"agent {name}", lambda: launcher(name).launch("", ""))[1]
        elif settings.agent is not None:
            command, path = settings.agent, program_folders(settings, unsafe=cell.config.engine.unsafe)
            yield _tried(f"agent {settings.label}", lambda: check_command(command, path))[1]
        for folder in settings.read_only:
            remedy = "make it, or correct evolver.read_only"
            yield Check(f"evolver.read_only {folder}", Path(folder).is_dir(), True, "a folder is to be there", remedy)
        for device in settings.devices:
            there = Path(device).is_char_device()
            yield Check(
                f"evolver.devices {device}", there, True, "a device is to be there", "a GPU's begin with /dev/nvidia"
            )
        for name in settings.inherit:
            yield Check(f"variable {name}", name in os.environ, True, "evolver.inherit names it", f"export {name}=…")

    def _gpus(self) -> Iterator[Check]:
        most = max(needs.gpus for needs in self._needs)
        if most or self._config.engine.gpus:
            count = len(self._machine.detect())
            wanted = max(most, len(self._config.engine.gpus))
            remedy = "install the driver, give the container GPUs, or lower training.gpus and engine.gpus"
            yield Check("GPUs", count >= wanted, True, f"{count} here, {wanted} needed", remedy)

    def _checked(self, cell: Cell, tasksets: Mapping[str, Taskset]) -> Iterator[Check]:
        """Let the protocol check a run, where its tasksets are there."""
        if cell.taskset in tasksets and all(name in tasksets for needs in self._needs for name in needs.tasksets):
            context = SuiteContext(self._folder, self._suite, tasksets, ())
            check = _tried(_CONFIGURATION, lambda: self._setting.check(cell, context))[1]
            if not check.ok:
                yield check


def _tried(name: str, load: Callable[[], T]) -> tuple[T | None, Check]:
    try:
        return load(), Check(name, True, True, "there")
    except MissingExtraError as error:
        detail, _, remedy = str(error).partition(": ")
        return None, Check(name, False, True, detail, remedy)
    except HeredityError as error:
        return None, Check(name, False, True, str(error))


def _disk(folder: Path) -> Iterator[Check]:
    there = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.is_dir())
    for name, folder_there in (("disk for runs", there), ("disk for temporary files", Path(tempfile.gettempdir()))):
        free = shutil.disk_usage(folder_there).free
        detail = f"{free / 2**30:.1f} GB free in {folder_there}"
        # A small suite may do with less, and one whose disk is full is resumed: nothing to refuse it for.
        yield Check(name, free >= LEAST_DISK, False, detail, f"free at least {LEAST_DISK >> 20} MB")


def _model(name: str, gateway: GatewaySettings) -> Iterator[Check]:
    if name in gateway.routes:
        for member in gateway.routes[name].models:
            yield from _model(member, gateway)
        return
    first = name.partition("/")[0]
    provider = gateway.provider(name)
    if provider is not None:
        yield from _provider(name, provider)
    elif first in MODELS:
        opener, check = _tried(f"model {name}", lambda: MODELS.load(first))
        yield check
        lacking = [check for check in _extras(f"model {name}", opener) if not check.ok]
        yield from lacking
        look = getattr(inspect.getmodule(opener), "check_model", None)
        if look is not None and not lacking:
            yield _tried(f"model {name}", lambda: look(name.partition("/")[2]))[1]
    else:
        yield Check(
            f"model {name}", False, True, f"no provider or package is called {first!r}", "name one as in openai/gpt-5"
        )


def _provider(name: str, provider: ProviderSettings) -> Iterator[Check]:
    client = CLIENTS.get(provider.kind)
    ours = () if client is None or client.own else (client.module,)
    yield from _modules(f"model {name}", {"llm": ("pydantic_ai", *ours)})
    if client is not None and client.own:
        here = _there(client.module)
        detail = f"{client.module} {'installed' if here else 'not installed'}"
        yield Check(f"model {name}: {provider.kind}", here, True, detail, f"pip install {client.install}")
    variable = provider.api_key_env
    if variable:
        set_here = bool(os.environ.get(variable))
        detail = f"{variable} is {'set' if set_here else 'not set'}"
        yield Check(f"key of {name.partition('/')[0]}", set_here, True, detail, f"export {variable}=…")


def _endpoint(name: str, provider: ProviderSettings | None) -> Check | None:
    """Ask a provider which models it has; None where there is nothing to ask, or no key to ask with."""
    if provider is None or not provider.base_url:
        return None
    key = os.environ.get(provider.api_key_env, "") if provider.api_key_env else ""
    if provider.api_key_env and not key:
        return None
    path, header, value = _LISTS.get(provider.kind, ("", "", ""))
    request = urllib.request.Request(provider.base_url.rstrip("/") + path, headers={"User-Agent": "heredity"})
    if key and header:
        # Not sent on to where the server may redirect.
        request.add_unredirected_header(header, value + key)
    problem, remedy = "", f"start its server, or correct gateway.providers.{name.partition('/')[0]}.base_url"
    try:
        urllib.request.urlopen(request, timeout=_CONNECT_S).close()
    except urllib.error.HTTPError as error:
        # Keys that may ask models only are told 403 or of scopes.
        if error.code == 401 and header and b"scope" not in error.read(_MOST_BYTES):
            problem = f"its server at {provider.base_url} refuses the key (HTTP 401)"
            remedy = (
                f"correct the key in {provider.api_key_env}" if key else "name the variable of its key in api_key_env"
            )
    except urllib.error.URLError as error:
        cause = error.reason if isinstance(error.reason, OSError) else error
        if not isinstance(cause, ssl.SSLError):  # The package that asks may know other authorities.
            reason = unconnected(cause) or (
                f"no connection within {_CONNECT_S:g} s" if isinstance(cause, TimeoutError) else str(cause)
            )
            problem = f"{provider.base_url}: {reason}"
    except (OSError, HTTPException):
        pass  # It is there, and slow or of another kind: what it answers a model's call is another matter.
    return Check(f"endpoint of {name}", not problem, True, problem or f"{provider.base_url} answers", remedy)


_CONNECT_S = 5.0
_AT_ONCE = 8
_MOST_BYTES = 4096
_LISTS = {
    "openai": ("/models", "Authorization", "Bearer "),
    "anthropic": ("/v1/models", "x-api-key", ""),
}
"""Kind of provider to where it lists models, and the header that takes the key."""


def _extras(name: str, plugin: Any) -> Iterator[Check]:
    """Look for the packages that the module of something says it needs."""
    module = inspect.getmodule(plugin if inspect.isclass(plugin) or inspect.isfunction(plugin) else type(plugin))
    yield from _modules(name, getattr(module, "EXTRAS", {}))


def _modules(name: str, extras: Mapping[str, Iterable[str]]) -> Iterator[Check]:
    for extra, modules in extras.items():
        missing = [module for module in modules if not _there(module)]
        detail = f"{', '.join(missing)} not installed" if missing else "installed"
        yield Check(f"{name}: extra {extra}", not missing, True, detail, f"pip install 'heredity[{extra}]'")


def _there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of the package around it
        return False
