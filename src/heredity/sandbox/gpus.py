"""GPUs by name, leased: a run holds its GPUs exclusively among all processes of this user.

GPUs are read from the driver's list. A lease is an advisory lock on a file for each GPU (in a folder of this user);
the kernel releases it when a process ends in any way.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from heredity._core.errors import ConfigError, RecordError, RunLockedError
from heredity.records.lock import RunLock

_POLL_S = 0.5
_SHARED = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools")
"""Device files needed by every program that uses a GPU, where they exist."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU.

    Attributes:
        index: its number in nvidia-smi, by its place on the bus.
        uuid: the driver's name of it; empty if the driver has none.
        place: its place on the bus, such as `0000:04:00.0`.
        files: the device files for this GPU alone.
    """

    index: int
    uuid: str
    bus_address: str
    files: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class GpuMachine:
    """Folders in which GPUs are found and leased.

    Attributes:
        listed: the driver's folder with a folder for each GPU.
        devices: the folder of device files.
        locks: the folder of the locks, common to all processes that share the GPUs.
    """

    listed: Path = Path("/proc/driver/nvidia/gpus")
    devices: Path = Path("/dev")
    locks: Path = Path(f"/tmp/heredity-gpus-{os.getuid()}")

    def detect(self) -> list[Gpu]:
        """Return the available GPUs, in the order of nvidia-smi."""
        gpus: list[Gpu] = []
        for folder in sorted(self.listed.glob("*")):
            try:
                lines = (folder / "information").read_text(encoding="utf-8").splitlines()
            except OSError:
                continue
            fields = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
            own = self.devices / f"nvidia{fields.get('Device Minor', '')}"
            # In a container the driver also lists GPUs that the container cannot use.
            if not own.is_char_device():
                continue
            shared = [self.devices / name for name in _SHARED]
            caps = sorted((self.devices / "nvidia-caps").glob("nvidia-cap*"))
            files = (own, *(path for path in (*shared, *caps) if path.is_char_device()))
            uuid = fields.get("GPU UUID", "")
            gpus.append(Gpu(len(gpus), "" if "?" in uuid else uuid, folder.name, files))
        return gpus

    def select(self, names: Sequence[str]) -> dict[str, Gpu]:
        """Return GPUs by their configured names.

        Args:
            names: numbers or UUIDs, as in nvidia-smi.

        Raises:
            ConfigError: if one does not exist, or two names mean one GPU.
        """
        there = self.detect()
        by_name = {name: gpu for gpu in there for name in (str(gpu.index), gpu.uuid) if name}
        for name in names:
            if name not in by_name:
                shown = ", ".join(f"{gpu.index}{f' ({gpu.uuid})' if gpu.uuid else ''}" for gpu in there) or "none"
                raise ConfigError(f"engine.gpus names {name!r}, which does not exist; there are: {shown}")
        if len({by_name[name].bus_address for name in names}) < len(names):
            raise ConfigError(f"engine.gpus names one GPU twice: {', '.join(names)}")
        return {name: by_name[name] for name in names}


@dataclass(frozen=True, slots=True)
class Lease:
    """The GPUs of one run, by name, in the order of the configuration; empty for a run without GPUs."""

    gpus: dict[str, Gpu]

    @property
    def names(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self.gpus)

    @property
    def files(self) -> tuple[Path, ...]:
        """The device files of all of them."""
        return tuple(dict.fromkeys(path for gpu in self.gpus.values() for path in gpu.files))

    def environment(self, *, confined: bool) -> dict[str, str]:
        """Return variables for a program that uses them.

        Args:
            confined: whether only their device files are visible, so that it need not select any.
        """
        if not self.gpus:
            return {}
        seen = {} if confined else {"CUDA_VISIBLE_DEVICES": ",".join(str(gpu.index) for gpu in self.gpus.values())}
        # By default CUDA counts the fastest first.
        return {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", **seen}


NO_GPU = Lease({})


class GpuPool:
    """The GPUs that a suite may lease, to be used on one event loop.

    A run gets all of its GPUs at once or waits (runs cannot deadlock). The runs of a suite are served in the
    order in which they ask; between processes the order is undefined.
    """

    def __init__(self, names: Sequence[str], machine: GpuMachine | None = None) -> None:
        """Find the GPUs.

        Raises:
            ConfigError: if one does not exist.
        """
        self._machine = machine or GpuMachine()
        self._gpus = self._machine.select(names) if names else {}
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def lease(self, count: int) -> AsyncGenerator[Lease]:
        """Wait for a number of GPUs and hold them until the block ends.

        Raises:
            ConfigError: if there are fewer.
            RecordError: if the folder of the locks does not belong to this user, or cannot be written.
        """
        if count > len(self._gpus):
            raise ConfigError(f"training.gpus is {count}, and engine.gpus names {len(self._gpus)}; name more")
        if not count:
            yield NO_GPU
            return
        async with self._turn:
            while (held := self._take(count)) is None:  # noqa: ASYNC110 - other processes are waited for
                await asyncio.sleep(_POLL_S)
        try:
            yield Lease({name: self._gpus[name] for name in held})
        finally:
            for lock in held.values():
                lock.release()

    def _take(self, count: int) -> dict[str, RunLock] | None:
        """Lock a number of GPUs, or none."""
        folder = self._folder()
        held: dict[str, RunLock] = {}
        try:
            for name, gpu in self._gpus.items():
                if len(held) < count:
                    try:
                        held[name] = RunLock.acquire(folder / gpu.bus_address.replace(":", "-"))
                    except RunLockedError:
                        continue
            if len(held) == count:
                taken, held = held, {}
                return taken
            return None
        finally:
            for lock in held.values():
                lock.release()

    def _folder(self) -> Path:
        folder = self._machine.locks
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            about = folder.lstat()
        except OSError as error:
            raise RecordError(f"{folder}, in which GPUs are leased, cannot be made: {error.strerror}") from error
        if folder.is_symlink() or about.st_uid != os.getuid():
            raise RecordError(f"{folder}, in which GPUs are leased, belongs to somebody else; have it removed")
        return folder
