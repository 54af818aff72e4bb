"""The process of one user environment; see `heredity.kinds.policy.environments.child`.

Started as `python -m heredity.kinds.policy.environments.child_process FD`. A request is a list that begins with the
operation's name; the answer is `["ok", value]`, or `["error", kind, message, traceback]`, perhaps after `["doing",
what]`.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium

from heredity._core.errors import ConfigError, HeredityError, HostError
from heredity.kinds.policy.environments.making import make_from_spec
from heredity.kinds.policy.environments.wire import decode, encode, pack_space, plain

_PR_SET_PDEATHSIG = 1
_LEAST_MEMORY = 4 << 30
_MARK_S = 0.5


class Child:
    """Answers requests about one environment."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._env: gymnasium.Env[Any, Any] | None = None
        self._spaces: tuple[Any, Any] = (None, None)
        self._settled = False
        self._doing, self._marked = "", 0.0

    def serve(self) -> None:
        """Answer until the other end closes."""
        own = os.getpid()
        while True:
            try:
                answer = encode(["ok", self._answer(*decode(_read(self._channel)))])
            # Any error is reported to the other end, and this process goes on.
            except BaseException as error:  # noqa: BLE001
                answer = encode(["error", *_described(error)])
            if os.getpid() != own:
                os._exit(0)  # an environment forked, and both go on
            self._send(answer)

    def _answer(self, what: str, *arguments: Any) -> Any:
        answer: Callable[..., Any] = getattr(self, f"_on_{what}")
        return answer(*arguments)

    def _send(self, data: bytes) -> None:
        self._channel.sendall(len(data).to_bytes(4, "little") + data)

    def _mark(self, what: str) -> None:
        """Announce the current operation, which restarts its timeout."""
        now = time.monotonic()
        if what != self._doing or now > self._marked + _MARK_S:
            self._doing, self._marked = what, now
            self._send(encode(["doing", what]))

    def _on_make(self, spec: Mapping[str, Any], render_mode: str | None) -> Any:
        self._env = make_from_spec({**spec, "child": False}, render_mode)
        return self._about(self._env)

    def _about(self, env: gymnasium.Env[Any, Any]) -> dict[str, Any]:
        self._spaces = (env.observation_space, env.action_space)
        observation, action = map(pack_space, self._spaces)
        metadata: Any = env.metadata
        return {
            "observation": observation,
            "action": action,
            "metadata": plain(metadata) if isinstance(metadata, dict) else {},
        }

    def _on_reset(self, seed: int | None, options: dict[str, Any] | None) -> Any:
        env = self._environment()
        observation, info = env.reset(seed=seed, options=options)
        # Some environments set their spaces in reset.
        settled = self._settled and self._spaces == (env.observation_space, env.action_space)
        self._settled = True
        return [observation, _info(info), None if settled else self._about(env)]

    def _on_step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = self._environment().step(action)
        return [observation, float(reward), bool(terminated), bool(truncated), _info(info)]

    def _on_render(self) -> Any:
        return self._environment().render()

    def _on_sample(self, path: str) -> Any:
        return getattr(self._environment(), path).sample()

    def _on_contains(self, path: str, value: Any) -> bool:
        return bool(getattr(self._environment(), path).contains(value))

    def _on_seed(self, path: str, seed: Any) -> Any:
        return plain(getattr(self._environment(), path).seed(seed))

    def _on_close(self) -> None:
        if self._env is not None:
            self._env.close()

    def _on_describe(self, name: str) -> Any:
        from heredity.kinds.policy.environments.generic import describe
        from heredity.kinds.policy.environments.registry import FAMILIES

        return describe(name, list(FAMILIES.values()), child=True, mark=self._mark)

    def _on_measure(self, spec: Mapping[str, Any]) -> Any:
        from heredity.kinds.policy.environments.generic import random_returns

        return random_returns(spec["env_id"], self._watched({**spec, "child": False}))

    def _on_check(self, spec: Mapping[str, Any], steps: int, options: Mapping[str, Any]) -> Any:
        from heredity.kinds.policy.environments.conformance import check_environment

        plain_spec = {**spec, "child": False}
        findings = check_environment(lambda: self._watched(plain_spec), steps=steps, **options)
        return [[one.name, one.passed, one.detail] for one in findings]

    def _on_events(self, spec: Mapping[str, Any], steps: int) -> Any:
        from heredity.kinds.policy.environments.conformance import reference_events

        return reference_events(self._watched({**spec, "child": False}), steps)

    def _watched(self, spec: Mapping[str, Any]) -> gymnasium.Env[Any, Any]:
        self._mark("make")
        return _Marking(make_from_spec(spec), self._mark)

    def _environment(self) -> gymnasium.Env[Any, Any]:
        if self._env is None:
            raise HostError("no environment was created yet")
        return self._env


class _Marking(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Announces each operation of an environment before it starts."""

    def __init__(self, env: gymnasium.Env[Any, Any], mark: Callable[[str], None]) -> None:
        super().__init__(env)
        self._say = mark

    def reset(self, **options: Any) -> Any:
        self._say("reset")
        return self.env.reset(**options)

    def step(self, action: Any) -> Any:
        self._say("step")
        return self.env.step(action)

    def close(self) -> None:
        # If it is closed because of a failure, keep the operation that failed.
        if sys.exc_info()[0] is None:
            self._say("close")
        self.env.close()


def _info(info: Any) -> Any:
    if not isinstance(info, dict):
        raise TypeError(f"the info is of type {type(info).__name__}, not dict")
    return plain(info) if info else {}


def _described(error: BaseException) -> list[str]:
    kind = next((kind.__name__ for kind in (ConfigError, HostError) if isinstance(error, kind)), "")
    trace = "".join(traceback.format_exception(error))[-8192:]
    if isinstance(error, HeredityError):
        return [kind or "HostError", str(error), trace]
    frame = traceback.extract_tb(error.__traceback__)[-1]
    try:
        text = str(error)[:2000]
    # Formatting the message runs the environment's code, too.
    except BaseException as second:  # noqa: BLE001
        text = f"<its text raised {type(second).__name__}>"
    return ["", f"{type(error).__name__}: {text} ({os.path.basename(frame.filename)}:{frame.lineno})", trace]


def _read(channel: socket.socket) -> bytes:
    header = _exactly(channel, 4)
    return _exactly(channel, int.from_bytes(header, "little"))


def _exactly(channel: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        chunk = channel.recv(size - len(data))
        if not chunk:
            os._exit(0)
        data += chunk
    return bytes(data)


def _bound() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    most = max(_LEAST_MEMORY, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2)
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or hard > most:
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")


if __name__ == "__main__":
    _bound()
    Child(socket.socket(fileno=int(sys.argv[1]))).serve()
