"""Requirements of a suite on this machine, checked before anything starts; missing items are listed with remedies.

Optional packages are looked up, not imported, except for models that need an account or a price. The module behind an
entry point may declare the ones it needs in a constant:
`EXTRAS = {"local": ("torch", "transformers")}`, extra of Heredity to modules. The module of a kind of model may define
a function `check_model(rest)` that raises if the model `rest` is not available.
"""

from __future__ import annotations

import inspect
import os
import shutil
import ssl
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from heredity._core.errors import ConfigError, HeredityError, MissingExtraError
from heredity.agents.launchers import LaunchOptions, available, check_command, launcher
from heredity.configuration.config import Cell, Config
from heredity.configuration.tools import ToolSettings
from heredity.engine.kind import KINDS, Kind, check_tools
from heredity.experiments.config import cells
from heredity.experiments.idle import Guess, idle_settings, models_of
from heredity.experiments.measured import remember_measured
from heredity.experiments.outside_agents import program_folders
from heredity.experiments.transparency.writer import open_logs
from heredity.methods.registry import METHODS
from heredity.models.failures import unconnected
from heredity.models.gateway import provider_model
from heredity.models.prices import pricing
from heredity.models.settings import CLIENTS, MODELS, GatewaySettings, ProviderSettings
from heredity.protocols.contract import Setting, SuiteContext
from heredity.protocols.registry import PROTOCOLS
from heredity.sandbox import isolation
from heredity.sandbox.check import LEAST_DISK, Check
from heredity.sandbox.containers.contract import BACKENDS
from heredity.sandbox.gpus import GpuMachine
from heredity.tasks import Taskset
from heredity.tasks.registry import taskset

T = TypeVar("T")


def require(
    config: Config, folder: Path, machine: GpuMachine | None = None, given: Collection[str] | None = None
) -> list[str]:
    """Refuse a suite that cannot run here; return the notes on its tasksets, and on settings that have no effect.

    Raises:
        ConfigError: if anything is missing; the message has a line for each item, with its remedy.
    """
    checks = preflight(config, folder, machine, given)
    missing = [check for check in checks if check.needed and not check.ok]
    if missing:
        raise PreflightError([_line(check) for check in missing])
    return [f"{check.name.removeprefix(_NOTE)}: {check.detail}" for check in checks if check.name.startswith(_NOTE)]


def _line(check: Check) -> str:
    detail = " ".join(check.detail.splitlines())
    text = detail if check.name == _CONFIGURATION else f"{check.name}: {detail}"
    return f"{text}; {check.remedy}" if check.remedy else text


class PreflightError(ConfigError):
    """Something that a suite needs is missing; nothing was started.

    Attributes:
        lines: one for each missing item, with its remedy.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        several = [f"{len(lines)} things are missing, and nothing was started:", *(f"  {line}" for line in lines)]
        super().__init__(lines[0] if len(lines) == 1 else "\n".join(several))


def preflight(
    config: Config, folder: Path, machine: GpuMachine | None = None, given: Collection[str] | None = None
) -> list[Check]:
    """Check everything that a suite needs, including its models' servers; shared needs are listed once.

    Args:
        config: the suite's configuration.
        folder: folder of the suite.
        machine: machine with the GPUs (default: this one).
        given: keys that the user set: refused if nothing reads them, while others are noted. By default all keys.

    Raises:
        ConfigError: if the configuration does not make any runs.
    """
    suite = cells(config)
    setting = PROTOCOLS.load(config.run.protocol).setting
    looking = _Looking(config, setting, suite, folder, machine or GpuMachine(), given)
    listed = list(dict.fromkeys([*looking.all(), *looking.endpoints()]))
    # The check of a whole run may repeat a single check's result.
    missing = [check for check in listed if not check.ok and check.name != _CONFIGURATION]
    stated = {text for check in missing for text in (check.detail, check.remedy) if text}
    return [c for c in listed if c.name != _CONFIGURATION or not {c.detail, c.remedy} & stated]


_CONFIGURATION = "configuration"
_NOTE = "note on "


class _Looking:
    def __init__(
        self,
        config: Config,
        setting: Setting,
        suite: Sequence[Cell],
        folder: Path,
        machine: GpuMachine,
        given: Collection[str] | None,
    ) -> None:
        self._given = given
        self._config, self._setting, self._suite = config, setting, suite
        self._folder, self._machine = folder, machine
        self._needs = [setting.needs(cell.config) for cell in suite]

    def all(self) -> Iterator[Check]:
        yield from _disk(self._folder)
        yield from _data(self._config.run.data)
        logs, opened = _try("logs of starts and ends", open_logs)
        if logs or not opened.ok:
            yield opened
        remember_measured(self._folder)
        named = (*self._config.run.tasksets, *(name for needs in self._needs for name in needs.tasksets))
        tasksets: dict[str, Taskset] = {}
        for name in dict.fromkeys(named):
            loaded, check = _try(f"taskset {name}", lambda name=name: taskset(name))
            notes: Sequence[str] | None = None
            if loaded is not None:
                notes, check = _try(f"taskset {name}", lambda loaded=loaded: loaded.info.notes)
            yield check
            yield from (Check(f"{_NOTE}{name}", True, False, note) for note in notes or ())
            if loaded is not None and notes is not None:
                tasksets[name] = loaded
        kinds = dict.fromkeys(one.info.kind for one in tasksets.values())
        for name in kinds:
            kind, check = _try(f"kind of task {name}", lambda name=name: KINDS.load(name))
            yield from self._kind(kind) if kind else [check]
        if len(tasksets) < len(set(named)):  # Their kind is unknown, except that they are confined.
            yield from self._confinement()
        if self._config.solver.tools:
            taking = [KINDS.load(name) for name in kinds if name in KINDS]
            yield _try("solver.tools", lambda: check_tools(taking))[1]
            yield from self._tools(self._config.tools)
        for cell in self._suite:
            yield from self._evolver(cell)
        for name in dict.fromkeys(filter(None, self._models())):
            yield from _model(name, self._config.gateway)
        yield from self._gpus()
        yield from self._idle(tasksets)
        for cell in self._suite:
            yield from self._protocol_checks(cell, tasksets)

    def _idle(self, tasksets: Mapping[str, Taskset]) -> Iterator[Check]:
        """Check that every setting is read by a run."""
        for key, why in idle_settings(self._config, self._suite, tasksets).items():
            # A file may define providers and routes for later use; those given for this suite are for this suite.
            given = [] if self._given is None else self._given
            defines = key.startswith(("gateway.providers.", "gateway.routes."))
            if isinstance(why, Guess):
                yield Check(f"{_NOTE}{key}", True, False, f"it is set, and perhaps nothing reads it: {why}")
            elif (self._given is None and not defines) or any(
                key == own or key.startswith(f"{own}.") or own.startswith(f"{key}.") for own in given
            ):
                yield Check(_CONFIGURATION, False, True, f"{key} is set, but nothing would read it: {why}")
            else:
                yield Check(f"{_NOTE}{key}", True, False, f"the suite's file sets it, and nothing reads it here: {why}")

    def endpoints(self) -> Iterator[Check]:
        gateway = self._config.gateway
        names = list(dict.fromkeys(filter(None, self._models())))
        members = {name: gateway.routes[name].models if name in gateway.routes else [name] for name in names}
        asked = list(dict.fromkeys(member for several in members.values() for member in several))
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            checks = dict(zip(asked, pool.map(_endpoint, asked, map(gateway.provider, asked)), strict=True))
        for several in members.values():
            looked = [check for name in several if (check := checks[name]) is not None]
            # One available model is enough for a route.
            answered = len(several) > 1 and (len(looked) < len(several) or any(check.ok for check in looked))
            yield from (replace(check, needed=not answered) for check in looked)

    def _models(self) -> Iterator[str]:
        for cell, needs in zip(self._suite, self._needs, strict=True):
            yield from models_of(cell, needs)

    def _tools(self, given: ToolSettings) -> Iterator[Check]:
        from heredity.team.tools.task_tools import lacking

        for name, check in lacking(given, unsafe=self._config.engine.unsafe):
            yield _try(name, check)[1]

    def _kind(self, kind: Kind) -> Iterator[Check]:
        needs, config = kind.needs, self._config
        # A kind's module is the one that opens its runners.
        yield from _extras(f"kind of task {kind.name}", kind.open)
        for cell in self._suite:
            yield _try(f"kind of task {kind.name}", lambda cell=cell: kind.check(cell.config.gateway.execution))[1]
        yield from self._confinement()
        if needs.commands:
            yield self._bubblewrap
        if needs.containers:
            name = config.engine.containers
            yield _try(f"containers {name}", lambda: BACKENDS.load(name))[1]
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
            method, check = _try(f"method {settings.method}", lambda: METHODS.load(settings.method or ""))
            yield check
            yield from _extras(f"method {settings.method}", method)
            return
        if not cell.config.engine.unsafe:
            yield self._bubblewrap
        if settings.tools:
            yield from self._tools(cell.config.agent_tools)
        if settings.launcher is not None:
            name = settings.launcher
            options = LaunchOptions("", settings.account_model, settings.effort, settings.profile, settings.login)
            yield _try(f"agent {name}", lambda: launcher(name).launch("", "", options))[1]
        elif settings.agent is not None:
            command, path = settings.agent, program_folders(settings, unsafe=cell.config.engine.unsafe)
            yield _try(f"agent {settings.label}", lambda: check_command(command, path))[1]
        for folder in settings.read_only:
            remedy = "create it, or correct evolver.read_only"
            yield Check(
                f"evolver.read_only {folder}", Path(folder).is_dir(), True, "must be an existing folder", remedy
            )
        for device in settings.devices:
            there = Path(device).is_char_device()
            yield Check(
                f"evolver.devices {device}", there, True, "must be an existing device", "GPUs begin with /dev/nvidia"
            )
        for name in settings.inherit:
            yield Check(f"variable {name}", name in os.environ, True, "named by evolver.inherit", f"export {name}=…")

    def _gpus(self) -> Iterator[Check]:
        most = max(needs.gpus for needs in self._needs)
        if most or self._config.engine.gpus:
            count = len(self._machine.detect())
            wanted = max(most, len(self._config.engine.gpus))
            remedy = "install the driver, give the container GPUs, or lower training.gpus and engine.gpus"
            yield Check("GPUs", count >= wanted, True, f"{count} here, {wanted} needed", remedy)

    def _protocol_checks(self, cell: Cell, tasksets: Mapping[str, Taskset]) -> Iterator[Check]:
        """Let the protocol check a run if its tasksets could be loaded."""
        if cell.taskset in tasksets and all(name in tasksets for needs in self._needs for name in needs.tasksets):
            context = SuiteContext(self._folder, self._suite, tasksets, ())
            check = _try(_CONFIGURATION, lambda: self._setting.check(cell, context))[1]
            if not check.ok:
                yield check


def _try(name: str, load: Callable[[], T]) -> tuple[T | None, Check]:
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
        # A note, not a need: a small suite may need less, and a suite that fills the disk can be resumed.
        yield Check(name, free >= LEAST_DISK, False, detail, f"free at least {LEAST_DISK >> 20} MB")


def _data(named: Mapping[str, str]) -> Iterator[Check]:
    """Check for the data that a user brings along."""
    for variable, instructions in named.items():
        path = os.environ.get(variable, "")
        there = bool(path) and Path(path).expanduser().exists()
        detail = path if there else f"{path} does not exist" if path else f"{variable} is not set"
        yield Check(f"data in {variable}", there, True, detail, "" if there else instructions)


def _model(name: str, gateway: GatewaySettings) -> Iterator[Check]:
    if name in gateway.routes:
        for member in gateway.routes[name].models:
            yield from _model(member, gateway)
        return
    first = name.partition("/")[0]
    provider = gateway.provider(name)
    if provider is not None:
        yield from _provider(name, provider, priced=gateway.max_cost_usd is not None)
    elif first in MODELS:
        opener, check = _try(f"model {name}", lambda: MODELS.load(first))
        yield check
        lacking = [check for check in _extras(f"model {name}", opener) if not check.ok]
        yield from lacking
        look = getattr(inspect.getmodule(opener), "check_model", None)
        if look is not None and not lacking:
            yield _try(f"model {name}", lambda: look(name.partition("/")[2]))[1]
    else:
        yield Check(
            f"model {name}",
            False,
            True,
            f"unknown provider or package {first!r}",
            "write PROVIDER/MODEL, such as openai/gpt-5",
        )


def _provider(name: str, provider: ProviderSettings, *, priced: bool) -> Iterator[Check]:
    client = CLIENTS.get(provider.kind)
    ours = (client.module,) if client is not None and client.extra == "llm" else ()
    checks = [*_modules(f"model {name}", {"llm": ("pydantic_ai", *ours)})]
    if client is not None and not ours:
        here = _is_installed(client.module)
        detail = f"{client.module} {'installed' if here else 'not installed'}"
        checks.append(Check(f"model {name}: {provider.kind}", here, True, detail, f"pip install {client.install}"))
    variable = provider.api_key_env
    if variable:
        set_here = bool(os.environ.get(variable))
        detail = f"{variable} is {'set' if set_here else 'not set'}"
        checks.append(Check(f"key of {name.partition('/')[0]}", set_here, True, detail, f"export {variable}=…"))
    yield from checks
    # With an address and a key any other model opens; those without are opened here, which finds out about accounts.
    certain = provider.base_url or provider.kind in ("anthropic", "google")
    if all(check.ok for check in checks) and (priced or not certain):
        model, check = _try(f"model {name}", lambda: provider_model(name, provider))
        yield check
        if priced and model is not None and model.prices is None:
            yield Check(
                f"price of {name}", False, True, "gateway.max_cost_usd limits costs that are not known", pricing(name)
            )


def _endpoint(name: str, provider: ProviderSettings | None) -> Check | None:
    """Ask a provider for its list of models; None if it has no such list, or the key is missing."""
    if provider is None or not provider.base_url:
        return None
    key = os.environ.get(provider.api_key_env, "") if provider.api_key_env else ""
    if provider.api_key_env and not key:
        return None
    path, header, value = _LISTS.get(provider.kind, ("", "", ""))
    request = urllib.request.Request(provider.base_url.rstrip("/") + path, headers={"User-Agent": "heredity"})
    if key and header:
        # Redirects are not followed: the key would be sent to another server.
        request.add_unredirected_header(header, value + key)
    problem, remedy = "", f"start its server, or correct gateway.providers.{name.partition('/')[0]}.base_url"
    try:
        urllib.request.urlopen(request, timeout=_CONNECT_S).close()
    except urllib.error.HTTPError as error:
        # Keys limited to model calls get 403 or an error about scopes.
        if error.code == 401 and header and b"scope" not in error.read(_MOST_BYTES):
            problem = f"its server at {provider.base_url} refuses the key (HTTP 401)"
            remedy = (
                f"correct the key in {provider.api_key_env}" if key else "name the variable of its key in api_key_env"
            )
    except urllib.error.URLError as error:
        cause = error.reason if isinstance(error.reason, OSError) else error
        if not isinstance(cause, ssl.SSLError):  # The client library may trust other certificate authorities.
            reason = unconnected(cause) or (
                f"no connection within {_CONNECT_S:g} s" if isinstance(cause, TimeoutError) else str(cause)
            )
            problem = f"{provider.base_url}: {reason}"
    except (OSError, HTTPException):
        pass  # The server is up, and slow or of another kind; model calls may still work.
    return Check(f"endpoint of {name}", not problem, True, problem or f"{provider.base_url} answers", remedy)


_CONNECT_S = 5.0
_AT_ONCE = 8
_MOST_BYTES = 4096
_LISTS = {
    **dict.fromkeys(("openai", "litellm", "vllm", "ollama"), ("/models", "Authorization", "Bearer ")),
    "anthropic": ("/v1/models", "x-api-key", ""),
}
"""Kind of provider to the path of its list of models and the header that carries the key."""


def _extras(name: str, plugin: Any) -> Iterator[Check]:
    """Check for the packages that a plugin's module declares."""
    module = inspect.getmodule(plugin if inspect.isclass(plugin) or inspect.isfunction(plugin) else type(plugin))
    yield from _modules(name, getattr(module, "EXTRAS", {}))


def _modules(name: str, extras: Mapping[str, Iterable[str]]) -> Iterator[Check]:
    for extra, modules in extras.items():
        missing = [module for module in modules if not _is_installed(module)]
        detail = f"{', '.join(missing)} not installed" if missing else "installed"
        yield Check(f"{name}: extra {extra}", not missing, True, detail, f"pip install 'heredity[{extra}]'")


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # missing parent package
        return False
