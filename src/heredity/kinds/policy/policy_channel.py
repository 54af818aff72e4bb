"""A channel: one confined policy worker and its episodes, in lockstep if there are several.

The channel never waits: the environment worker's loop calls `on_readable` when the policy has answered and `expire`
when it has timed out. All data from the policy's side is checked here.
"""

from __future__ import annotations

import enum
import json
import math
import os
import signal
import struct
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from heredity._core.errors import HostError
from heredity.engine import untrusted_messages
from heredity.engine.trajectory import Failure
from heredity.kinds.policy.environments.spaces import action_from_json
from heredity.kinds.policy.episode import Episode
from heredity.results.status import FailureSource, Status
from heredity.sandbox.guest import frames
from heredity.sandbox.guest.codec import Codec, pickle_values
from heredity.sandbox.zygote import Worker, ZygoteProcess

_MAX_JSON_ACTION = 1 << 16


class ActionCheck:
    """Turns the bytes sent by a policy into actions for its environment.

    An action outside its bounds is clipped and flagged; one that is not a finite number of the right shape is a fault.
    """

    def __init__(self, space: Mapping[str, Any], codec: Codec, real: gymnasium.Space[Any]) -> None:
        self._codec, self._space, self._real = codec, space, real
        self._low, self._high = _bounds(space) if codec.single else (0, 0)

    def split(self, data: bytes, count: int) -> list[tuple[Any, bytes, str | None]] | None:
        """Return (action, bytes sent, fault) for each episode; None if the size is wrong.

        A fault with an action means it was repaired; a fault without one ends the episode.
        """
        codec = self._codec
        if codec.leaves is None:
            return self._split_json(data, count)
        size = codec.nbytes
        if len(data) != size * count:
            return None
        if codec.integer:
            low, high = self._low, self._high
            values = struct.unpack(f"<{count}q", data)
            return [
                (v, data[i * 8 : i * 8 + 8], None)
                if low <= v <= high
                else (min(max(v, low), high), data[i * 8 : i * 8 + 8], f"action {v} is outside {low}..{high}")
                for i, v in enumerate(values)
            ]
        if codec.single:
            return self._split_array(data, count)
        return [self._checked_nested(data[i * size : (i + 1) * size]) for i in range(count)]

    def _split_array(self, data: bytes, count: int) -> list[tuple[Any, bytes, str | None]]:
        assert self._codec.leaves is not None
        leaf = self._codec.leaves[0]
        size = leaf.nbytes
        table = np.frombuffer(data, leaf.dtype).reshape(count, *leaf.shape).copy()
        if ((table >= self._low) & (table <= self._high)).all():
            return [(table[i], data[i * size : (i + 1) * size], None) for i in range(count)]
        answers: list[tuple[Any, bytes, str | None]] = []
        for i in range(count):
            sent, row = data[i * size : (i + 1) * size], table[i]
            if not np.isfinite(row).all():
                answers.append((None, sent, f"the action must be finite, got {np.array2string(row, threshold=8)}"))
            elif ((row >= self._low) & (row <= self._high)).all():
                answers.append((row, sent, None))
            else:
                answers.append((np.clip(row, self._low, self._high), sent, "the action was outside its bounds"))
        return answers

    def _checked_nested(self, data: bytes) -> tuple[Any, bytes, str | None]:
        fault: str | None = None
        repaired = bytearray(data)
        for leaf in self._codec.leaves or ():
            space = self._space
            for key in leaf.path:
                space = space["spaces"][key]
            low, high = _bounds(space)
            value = np.frombuffer(data, leaf.dtype, leaf.nbytes // leaf.dtype.itemsize, leaf.offset).reshape(leaf.shape)
            if not np.isfinite(value).all():
                return None, data, f"the action's part {leaf.name!r} must be finite"
            clipped = np.clip(value, low, high).astype(leaf.dtype)
            if not np.array_equal(clipped, value):
                fault = f"the action's part {leaf.name!r} was outside its bounds"
                repaired[leaf.offset : leaf.offset + leaf.nbytes] = clipped.tobytes()
        return self._codec.decode(repaired), data, fault

    def _split_json(self, data: bytes, count: int) -> list[tuple[Any, bytes, str | None]] | None:
        answers: list[tuple[Any, bytes, str | None]] = []
        at = 0
        for _ in range(count):
            size = int.from_bytes(data[at : at + 4], "little")
            part = data[at : at + 4 + size]
            at += 4 + size
            if len(part) != 4 + size or at > len(data):
                return None
            answers.append(self._checked_json(part))
        return answers if at == len(data) else None

    def _checked_json(self, part: bytes) -> tuple[Any, bytes, str | None]:
        if len(part) > _MAX_JSON_ACTION:
            return None, b"\0\0\0\0", f"the action takes more than {_MAX_JSON_ACTION} bytes"
        try:
            action = action_from_json(self._real, json.loads(part[4:]))
            if self._real.contains(action):
                return action, part, None
        except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError):
            pass  # not even an action's shape: reported below
        return None, part, "the action does not belong to its space"


def _bounds(space: Mapping[str, Any]) -> tuple[Any, Any]:
    kind = space["type"]
    if kind == "Discrete":
        start = int(space.get("start", 0))
        return start, start + int(space["n"]) - 1
    if kind == "MultiDiscrete":
        start = np.asarray(space.get("start", 0))
        return start, start + np.asarray(space["nvec"]) - 1
    if kind == "MultiBinary":
        return 0, 1
    dtype = np.dtype(space["dtype"])
    low, high = (np.asarray(space[k], dtype=np.float64) for k in ("low", "high"))
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        low, high = np.clip(low, limits.min, limits.max), np.clip(high, limits.min, limits.max)
    else:
        largest = np.finfo(dtype).max
        low, high = np.clip(low, -largest, largest), np.clip(high, -largest, largest)
    return low.astype(dtype), high.astype(dtype)


_MAX_META = 1 << 22
_CONFINE_S = 15.0


class Phase(enum.Enum):
    """The message that the channel is waiting for."""

    CONFINED = "confined"
    READY = "ready"
    ACTIONS = "actions"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of one episode: `failure` is None when ok; `retry` requests that the episode be played again alone."""

    episode: Episode
    failure: Failure | None
    failure_source: FailureSource | None = None
    retry: bool = False


_NONE: list[Ending] = []


class PolicyChannel:
    """One policy worker and its episodes.

    Attributes:
        worker: the confined process.
        deadline: monotonic time by which it must have answered.
        outbox: bytes that the pipe has not taken yet.
        phase: the message that the channel is waiting for.
    """

    def __init__(self, zygote: ZygoteProcess, episodes: Sequence[Episode], codecs: tuple[Codec, Codec]) -> None:
        first = episodes[0].rollout
        self._zygote, self._limits = zygote, first.limits
        self._observation_codec, self._action_codec = codecs
        self._check = ActionCheck(first.profile["action"], codecs[1], episodes[0].env.action_space)
        self._episodes = list(episodes)
        self._active = list(range(len(episodes)))
        self._inbox = bytearray()
        self._endings: list[Ending] = []
        self._act_at = ["policy.py", 1, "act"]
        self._horizon = math.inf if first.limits.steps is None else first.limits.steps
        self._plain_size = 0
        self.outbox = b""
        self.phase = Phase.CONFINED
        self._episode_deadline = time.monotonic() + _CONFINE_S + first.limits.init_s + first.limits.episode_s
        self.deadline = time.monotonic() + _CONFINE_S
        order = [(e.rollout.episode_index, e.rollout.policy_seed) for e in episodes]
        self.worker: Worker = zygote.spawn(first.profile, first.program, order, first.limits)

    def start(self) -> list[Ending]:
        """Reset the environments and send the first observations while the policy is loading."""
        parts: list[bytes | None] = []
        for position in list(self._active):
            try:
                parts.append(self._episodes[position].reset())
            except Exception as error:  # noqa: BLE001 - a simulator may raise anything; it is recorded with its side
                self._environment_failed(position, error)
        self._send(parts)
        return self._take_endings()

    def on_writable(self) -> None:
        """Send more of the outbox."""
        try:
            sent = os.write(self.worker.request, self.outbox)
        except BlockingIOError:
            return
        except BrokenPipeError:
            sent = len(self.outbox)
        self.outbox = self.outbox[sent:]

    def on_readable(self) -> list[Ending]:
        """Read the policy's bytes, and step the environments when a message is complete."""
        try:
            chunk = os.read(self.worker.response, frames.CHUNK)
        except BlockingIOError:
            return []
        if not chunk:
            self._died()
            return self._take_endings()
        # By far the most frequent case: one whole frame with the requested actions.
        plain = len(chunk) == self._plain_size and not self._inbox and self.phase is Phase.ACTIONS
        if plain and chunk[4:5] == frames.ACTIONS and int.from_bytes(chunk[:4], "little") == len(chunk) - 4:
            self._advance(chunk[5:])
            return self._take_endings() if self._endings else _NONE
        self._take_chunk(chunk)
        return self._take_endings()

    def _take_chunk(self, chunk: bytes) -> None:
        inbox = self._inbox
        inbox += chunk
        while len(inbox) >= 4 and self.phase is not Phase.DONE:
            size = int.from_bytes(inbox[:4], "little")
            if not 0 < size <= self._largest():
                self._fail_active(
                    Status.ACT_ERROR, f"the policy process wrote {size} bytes out of turn to its own pipe"
                )
                break
            if len(inbox) < size + 4:
                break
            payload = bytes(inbox[4 : size + 4])
            del inbox[: size + 4]
            self._on_frame(payload)

    def expire(self) -> list[Ending]:
        """End the channel because its deadline has passed."""
        if self.phase is Phase.CONFINED:
            self._fail_active(Status.HOST_ERROR, "the sandbox did not confine the policy in time")
        elif self.phase is Phase.READY:
            seconds = self._limits.init_s
            self._blame_alone(
                Status.INIT_TIMEOUT, f"importing and constructing the policy took more than {seconds:g} s"
            )
        else:
            late = time.monotonic() >= self._episode_deadline
            what = f"the episode took more than {self._limits.episode_s:g} s" if late else (
                f"act took more than {self._limits.act_s:g} s")  # fmt: skip
            self._blame_alone(Status.ROLLOUT_TIMEOUT, what, self._location())
        return self._take_endings()

    def extend(self, seconds: float) -> None:
        """Extend the policy's deadline by the time in which it could not be read."""
        self.deadline += seconds
        self._episode_deadline += seconds

    def belongs_to(self, request: int) -> bool:
        """Return True if the channel plays for this request."""
        return self._episodes[0].rollout.request == request

    def unfinished(self) -> list[Episode]:
        """Return the episodes that have not ended."""
        return [self._episodes[p] for p in self._active]

    def close(self, *, closed: bool = False) -> None:
        """End the worker, which may have closed its pipe."""
        self.phase = Phase.DONE
        if not self.worker.closed:
            self._zygote.end(self.worker, closed=closed)

    def _largest(self) -> int:
        return _MAX_META + (self._action_codec.nbytes or _MAX_META) * max(1, len(self._active))

    def _on_frame(self, payload: bytes) -> None:
        tag = payload[:1]
        if self.phase is Phase.ACTIONS and tag == frames.ACTIONS and self._action_codec.nbytes:
            if len(payload) == 1 + self._action_codec.nbytes * len(self._active):
                self._advance(payload[1:])
                return
        elif self.phase is Phase.ACTIONS and tag in (frames.MIXED, frames.ACTIONS):
            self._on_mixed(payload)
            return
        elif self.phase is Phase.CONFINED and tag == frames.CONFINED:
            self.phase = Phase.READY
            self.deadline = time.monotonic() + self._limits.init_s * len(self._episodes)
            return
        elif self.phase is Phase.CONFINED and tag == frames.UNCONFINED:
            self._fail_active(Status.ISOLATION_ERROR, f"confinement failed: {payload[1:].decode('utf-8', 'replace')}")
            return
        elif self.phase is Phase.READY and tag == frames.READY:
            self._on_ready(payload)
            return
        self._fail_active(Status.ACT_ERROR, "the policy process wrote to its own pipe out of turn")

    def _on_ready(self, payload: bytes) -> None:
        news = untrusted_messages.parse(payload[1:])
        if news is None:
            self._fail_active(Status.ACT_ERROR, "the policy process wrote to its own pipe out of turn")
            return
        self._act_at = untrusted_messages.location(news.get("act")) or self._act_at
        self._take_output(news)
        whole = untrusted_messages.failure(news.get("failure"))
        if whole is not None:
            for position in list(self._active):
                self._end(position, whole)
            return
        self.phase = Phase.ACTIONS
        now = time.monotonic()
        self._episode_deadline = now + self._limits.episode_s
        self.deadline = min(now + self._limits.act_s * max(1, len(self._active)), self._episode_deadline)
        failures = untrusted_messages.failures(news)
        for position in [p for p in self._active if p in failures]:
            self._end(position, failures[position])

    def _on_mixed(self, payload: bytes) -> None:
        data, failures = payload[1:], dict[int, Failure]()
        if payload[:1] == frames.MIXED:
            size = int.from_bytes(payload[1:5], "little")
            news = untrusted_messages.parse(payload[5 : 5 + size])
            if news is None:
                self._fail_active(Status.ACT_ERROR, "the policy process wrote to its own pipe out of turn")
                return
            data = payload[5 + size :]
            self._take_output(news)
            failures = untrusted_messages.failures(news)
        for position in [p for p in self._active if p in failures]:
            episode, failure = self._episodes[position], failures[position]
            self._end(
                position, Failure(failure.category, failure.message, failure.traceback, len(episode.recorder.rewards))
            )
        self._advance(data)

    def _advance(self, data: bytes) -> None:
        """Step every active environment with its action, and send the results."""
        if not self._active:
            return
        actions = self._check.split(data, len(self._active))
        if actions is None:
            self._fail_active(Status.ACT_ERROR, "the policy process sent actions of the wrong size")
            return
        parts: list[bytes | None] = []
        horizon, episodes = self._horizon, self._episodes
        for position, (action, sent, fault) in zip(tuple(self._active), actions, strict=True):
            episode = episodes[position]
            recorder = episode.recorder
            if fault is not None:
                if action is None:
                    self._end(position, Failure(Status.INVALID_ACTION, fault, self._location(), len(recorder.rewards)))
                    continue
                recorder.repaired.append(len(recorder.rewards))
            try:
                observation, reward, terminated, truncated, info = episode.step(action)
            except Exception as error:  # noqa: BLE001 - see start
                self._environment_failed(position, error)
                continue
            recorder.actions.append(sent)
            received = float(reward)
            recorder.rewards.append(received)
            episode.total += received
            if info:
                recorder.keep_info(info)
            part = recorder.observe(observation)
            if episode.media is not None:
                episode.media.keep(episode.env)
            steps = len(recorder.rewards)
            if terminated or truncated or steps >= episode.horizon or steps >= horizon:
                episode.terminated = bool(terminated)
                episode.truncated = bool(truncated) or steps >= episode.horizon or steps >= horizon
                self._end(position, None)
            else:
                parts.append(part)
        self._send(parts)

    def _send(self, parts: Sequence[bytes | None]) -> None:
        active = self._active
        if not active:
            return
        count = len(active)
        if None in parts:
            values = [self._episodes[p].recorder.observations[-1] for p in active]
            exact = [self._episodes[p].recorder.exact for p in active]
            decode = self._observation_codec.decode
            values = [decode(v) if e else v for v, e in zip(values, exact, strict=True)]
            body = b"\1" + pickle_values(values)
        elif self._observation_codec.fresh:
            texts = pickle_values(self._observation_codec.fresh)
            self._observation_codec.fresh.clear()
            body = b"\2" + frames.HEADER.pack(len(texts)) + texts + b"".join(parts)  # type: ignore[arg-type]
        else:
            body = b"\0" + b"".join(parts)  # type: ignore[arg-type]
        frame = struct.pack(f"<IcH{count}H", 3 + 2 * count + len(body), frames.STEP, count, *active) + body
        if self.phase is Phase.ACTIONS:
            self.deadline = time.monotonic() + self._limits.act_s * count
            if self.deadline > self._episode_deadline:
                self.deadline = self._episode_deadline
        self._plain_size = 5 + self._action_codec.nbytes * count
        if self.outbox:
            self.outbox += frame
            return
        try:
            sent = os.write(self.worker.request, frame)
        except BlockingIOError:
            sent = 0
        except BrokenPipeError:
            return
        if sent < len(frame):
            self.outbox = frame[sent:]

    def _end(
        self,
        position: int,
        failure: Failure | None,
        failure_source: FailureSource | None = None,
        *,
        retry: bool = False,
    ) -> None:
        episode = self._episodes[position]
        episode.ended = True
        self._active.remove(position)
        self._endings.append(Ending(episode, failure, failure_source, retry))
        if not self._active:
            self.phase = Phase.DONE

    def _environment_failed(self, position: int, error: Exception) -> None:
        import traceback

        text = "".join(traceback.format_exception(error))[-8192:]
        step = len(self._episodes[position].recorder.rewards)
        failure = Failure(Status.ENVIRONMENT_ERROR, f"{type(error).__name__}: {error}", text, step)
        self._end(position, failure, FailureSource.ENVIRONMENT)

    def _fail_active(self, category: str, message: str, traceback: str = "") -> None:
        for position in list(self._active):
            step = len(self._episodes[position].recorder.rewards)
            self._end(position, Failure(category, message, traceback, step))
        self.phase = Phase.DONE

    def _blame_alone(self, category: str, message: str, traceback: str = "") -> None:
        """Fail the only active episode, or have each of several played again alone, since only one of them is the cause."""
        if len(self._episodes) == 1:
            self._fail_active(category, message, traceback)
            return
        for position in list(self._active):
            self._end(position, None, retry=True)

    def _died(self) -> None:
        phase = self.phase
        self.close(closed=True)
        try:
            status = self._zygote.exit_status(self.worker)
        except HostError as error:
            self._fail_active(Status.HOST_ERROR, str(error))
            return
        if phase is Phase.CONFINED:
            self._fail_active(Status.HOST_ERROR, f"the policy process ended before it was confined (status {status})")
        elif status == -signal.SIGXCPU:
            self._blame_alone(Status.ROLLOUT_TIMEOUT, "the policy used more processor time than its episode may take")
        elif status == -signal.SIGKILL:
            self._blame_alone(Status.OOM, "the policy process was killed, out of memory most likely")
        elif phase is Phase.READY:
            self._blame_alone(
                Status.IMPORT_ERROR,
                f"the policy process ended while it was loaded: {untrusted_messages.exit_text(status)}",
            )
        else:
            self._blame_alone(
                Status.ACT_ERROR, f"the policy process ended: {untrusted_messages.exit_text(status)}", self._location()
            )

    def _location(self) -> str:
        file, line, name = self._act_at
        return f'  File "{file}", line {line}, in {name}\n'

    def _take_output(self, news: Mapping[str, Any]) -> None:
        printed = news.get("out")
        if not isinstance(printed, dict):
            return
        for position, episode in enumerate(self._episodes):
            texts = printed.get(str(position))
            if isinstance(texts, list) and len(texts) == 2:
                out, err = (t if isinstance(t, str) else "" for t in texts)
                episode.print(out, err)

    def _take_endings(self) -> list[Ending]:
        endings, self._endings = self._endings, []
        limit = self._limits.output_bytes
        if endings and len(self._episodes) == 1 and not self.worker.closed:
            for ending in endings:
                ending.episode.print(*self.worker.read_outputs(limit))
        return endings
