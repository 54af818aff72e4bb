"""An environment worker: a trusted process that steps environments, with a zygote for the policies.

Started by `EpisodeRunner` as `python -m heredity.kinds.policy.environment_worker FD`. It reads pickled messages from
the host and answers with encoded trajectories. Environment state and seeds never leave this process and the host.
"""

from __future__ import annotations

import collections
import json
import os
import pickle
import select
import signal
import socket
import sys
import time
from collections.abc import Mapping
from typing import Any

import gymnasium

from heredity._core.errors import HeredityError
from heredity.engine.trajectory import Failure
from heredity.kinds.policy.environments.child import ChildEnvironment
from heredity.kinds.policy.environments.taskset import make_from_spec
from heredity.kinds.policy.episode import EnvironmentPool, Episode, Recorder, Rollout
from heredity.kinds.policy.policy_channel import Ending, Phase, PolicyChannel
from heredity.results.status import FailureSource, Status
from heredity.sandbox.guest.codec import Codec
from heredity.sandbox.zygote import ZygoteProcess

CHANNELS = 4
"""Policy workers that play at once: while one policy computes, the environment of another is stepped."""

_HEADER = 8
TICK_S = 0.05
"""Interval between checks of deadlines."""

_SLOW_S = 1.0

_MOST_TIMEOUTS = 3
"""Maximum consecutive episodes in which an environment hangs with the same program."""


class EnvironmentWorker:
    """The main loop: start channels, step environments as answers arrive, send trajectories."""

    def __init__(self, host: socket.socket, settings: Mapping[str, Any]) -> None:
        self._host = host
        self._zygote = ZygoteProcess(settings)
        self._pool = EnvironmentPool(_build)
        self._queue: collections.deque[Rollout] = collections.deque()
        self._channels: dict[int, PolicyChannel] = {}
        self._writable: dict[int, PolicyChannel] = {}
        self._timeouts: collections.Counter[tuple[str, str]] = collections.Counter()
        self._inbox = bytearray()
        self._outbox = bytearray()
        self._poll = select.epoll()
        host.setblocking(False)
        self._poll.register(host.fileno(), select.EPOLLIN)
        self._open = True
        self._next_check = 0.0
        self._outbox += bytes(_HEADER)  # an empty message: ready
        self._flush()

    def run(self) -> None:
        """Serve until the host closes its end."""
        while self._open:
            while self._queue and len(self._channels) < CHANNELS:
                self._start_channel()
            self._wait()
        self._zygote.close()
        self._pool.close()

    def _wait(self) -> None:
        channels = self._channels
        events = self._poll.poll(TICK_S if channels else None)
        woken = time.monotonic()
        for fd, event in events:
            channel = channels.get(fd)
            if channel is not None:
                endings = channel.on_readable()
                if endings or channel.outbox or self._writable:
                    self._take(channel, endings)
            elif fd == self._host.fileno():
                self._on_host(event)
            elif fd in self._writable:
                channel = self._writable[fd]
                channel.on_writable()
                self._watch_writing(channel)
        now = time.monotonic()
        if now > woken + _SLOW_S:
            # The environment was slow; do not charge the policies.
            for channel in channels.values():
                channel.extend(now - woken)
        if now >= self._next_check:
            self._next_check = now + TICK_S
            for channel in [la for la in channels.values() if la.deadline <= now]:
                self._take(channel, channel.expire())

    def _on_host(self, event: int) -> None:
        if event & select.EPOLLOUT:
            self._flush()
        if not event & (select.EPOLLIN | select.EPOLLHUP):
            return
        try:
            chunk = self._host.recv(1 << 20)
        except BlockingIOError:
            return
        except ConnectionError:
            chunk = b""
        if not chunk:
            self._open = False
            return
        self._inbox += chunk
        while len(self._inbox) >= 8:
            size = int.from_bytes(self._inbox[:8], "little")
            if len(self._inbox) < size + 8:
                return
            message = pickle.loads(self._inbox[8 : size + 8])
            del self._inbox[: size + 8]
            if isinstance(message, int):
                self._queue = collections.deque(a for a in self._queue if a.request != message)
                for channel in [la for la in self._channels.values() if la.belongs_to(message)]:
                    self._drop(channel)
            else:
                self._queue.extend(message)

    def _start_channel(self) -> None:
        first = self._queue.popleft()
        rollouts = [first]
        while len(rollouts) < first.lockstep and self._queue and _together(first, self._queue[0]):
            rollouts.append(self._queue.popleft())
        codecs = (Codec(first.profile["obs"]), Codec(first.profile["action"], texts=False))
        episodes: list[Episode] = []
        try:
            if self._timeouts and self._timeouts[_env_key(first), first.program] >= _MOST_TIMEOUTS:
                raise TimeoutError(
                    f"the environment took too long in {_MOST_TIMEOUTS} episodes of the program in a row"
                )
            for rollout in rollouts:
                env = self._pool.take(_env_key(rollout), rollout.environment, _render_mode(rollout))
                episodes.append(Episode(rollout, env, Recorder(*codecs)))
            channel = PolicyChannel(self._zygote, episodes, codecs)
        except Exception as error:  # noqa: BLE001 - building an environment may raise anything; it is recorded with its side
            self._cannot_start(rollouts, error)
            return
        self._channels[channel.worker.response] = channel
        self._poll.register(channel.worker.response, select.EPOLLIN)
        self._take(channel, channel.start())

    def _cannot_start(self, rollouts: list[Rollout], error: Exception) -> None:
        host = isinstance(error, HeredityError)
        failure = Failure(Status.HOST_ERROR if host else Status.ENVIRONMENT_ERROR, f"{type(error).__name__}: {error}")
        for rollout in rollouts:
            empty = Recorder(Codec(rollout.profile["obs"]), Codec(rollout.profile["action"]))
            episode = Episode(rollout, gymnasium.Env(), empty)
            self._reply(
                rollout, episode.trajectory(failure, FailureSource.HOST if host else FailureSource.ENVIRONMENT).encode()
            )
        self._flush()

    def _take(self, channel: PolicyChannel, endings: list[Ending]) -> None:
        for ending in endings:
            rollout = ending.episode.rollout
            if ending.retry:
                self._queue.appendleft(_alone(rollout))
            else:
                self._reply(rollout, ending.episode.trajectory(ending.failure, ending.failure_source).encode())
            if isinstance(ending.episode.env, ChildEnvironment):
                self._count_timeout(rollout, ending.episode.env.timed_out)
            if ending.failure_source is FailureSource.ENVIRONMENT:
                ending.episode.env.close()
            else:
                self._pool.give(_env_key(rollout), ending.episode.env)
        if self._outbox:
            # One message for all ended episodes: every message wakes the host, which needs a core for it.
            self._flush()
        if channel.phase is Phase.DONE:
            self._retire(channel)
        elif channel.outbox or channel.worker.request in self._writable:
            self._watch_writing(channel)

    def _count_timeout(self, rollout: Rollout, timed_out: bool) -> None:
        pair = _env_key(rollout), rollout.program
        if timed_out:
            self._timeouts[pair] += 1
        else:
            self._timeouts.pop(pair, None)

    def _retire(self, channel: PolicyChannel) -> None:
        worker = channel.worker
        if self._channels.pop(worker.response, None) is not None and not worker.closed:
            self._poll.unregister(worker.response)
        if self._writable.pop(worker.request, None) is not None and not worker.closed:
            self._poll.unregister(worker.request)
        channel.close()
        self._zygote.drain()

    def _drop(self, channel: PolicyChannel) -> None:
        for episode in channel.unfinished():
            self._pool.give(_env_key(episode.rollout), episode.env)
        self._retire(channel)

    def _watch_writing(self, channel: PolicyChannel) -> None:
        fd = channel.worker.request
        if channel.outbox and fd not in self._writable:
            self._writable[fd] = channel
            self._poll.register(fd, select.EPOLLOUT)
        elif not channel.outbox and fd in self._writable:
            del self._writable[fd]
            self._poll.unregister(fd)

    def _reply(self, rollout: Rollout, trajectory: bytes) -> None:
        header = rollout.request.to_bytes(8, "little") + rollout.position.to_bytes(4, "little")
        self._outbox += (len(trajectory) + 12).to_bytes(8, "little") + header + trajectory

    def _flush(self) -> None:
        try:
            sent = self._host.send(self._outbox)
        except BlockingIOError:
            sent = 0
        except ConnectionError:
            self._open = False
            return
        del self._outbox[:sent]
        wanted = select.EPOLLIN | (select.EPOLLOUT if self._outbox else 0)
        self._poll.modify(self._host.fileno(), wanted)


def _build(spec: Mapping[str, Any], render_mode: str | None) -> gymnasium.Env[Any, Any]:
    return make_from_spec(spec, render_mode)


def _env_key(rollout: Rollout) -> str:
    return json.dumps([rollout.environment, _render_mode(rollout)], sort_keys=True)


def _render_mode(rollout: Rollout) -> str | None:
    return "rgb_array" if rollout.media else None


def _together(first: Rollout, other: Rollout) -> bool:
    return (
        first.request == other.request
        and first.program == other.program
        and other.lockstep == first.lockstep
        and first.environment == other.environment
        and first.media == other.media
    )


def _alone(rollout: Rollout) -> Rollout:
    import dataclasses

    return dataclasses.replace(rollout, lockstep=1)


def main() -> None:
    """Serve the host on the socket whose descriptor is the first argument."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    host = socket.socket(fileno=int(sys.argv[1]))
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    size = int.from_bytes(_read_all(host, 8), "little")
    settings = json.loads(_read_all(host, size))
    if settings["core"] is not None:
        # The policies inherit it: switching processes on one core costs far less than waking another core.
        os.sched_setaffinity(0, {settings["core"]})
    EnvironmentWorker(host, settings).run()


def _read_all(connection: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        chunk = connection.recv(size - len(data))
        if not chunk:
            sys.exit(0)
        data += chunk
    return bytes(data)


if __name__ == "__main__":
    main()
