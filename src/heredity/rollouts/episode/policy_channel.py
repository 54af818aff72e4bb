"""A channel: one confined policy worker and the episodes it plays, in lock-step where there are several.

The channel never waits: the environment worker's loop calls `on_readable` when the policy has answered and `expire` when it
has not in time. Everything that comes from the policy's side is checked here.
"""

from __future__ import annotations

import enum
import math
import os
import signal
import struct
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heredity.errors import HostError
from heredity.results.status import FailureSource, Status
from heredity.rollouts import untrusted_messages
from heredity.rollouts.episode.actions import ActionCheck
from heredity.rollouts.episode.episode import Episode
from heredity.rollouts.trajectory import Failure
from heredity.sandbox.guest import frames
from heredity.sandbox.guest.codec import Codec, pickle_values
from heredity.sandbox.zygote import Worker, ZygoteProcess

_MAX_META = 1 << 22
_CONFINE_S = 15.0


class Phase(enum.Enum):
    """What the channel is waiting for."""

    CONFINED = "confined"
    READY = "ready"
    ACTIONS = "actions"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Ending:
    """How one episode of a channel ended: `failure` is None when ok; `retry` asks for the episode to be played again alone."""

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
        phase: what the channel waits for.
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
        """Reset the environments and send the first observations while the policy is being loaded."""
        parts: list[bytes | None] = []
        for position in list(self._active):
            try:
                parts.append(self._episodes[position].reset())
            except Exception as error:  # noqa: BLE001 - a simulator may raise anything; it is recorded with its side
                self._environment_failed(position, error)
        self._send(parts)
        return self._take_endings()

    def on_writable(self) -> None:
        """Go on sending what the pipe did not take at once."""
        try:
            sent = os.write(self.worker.request, self.outbox)
        except BlockingIOError:
            return
        except BrokenPipeError:
            sent = len(self.outbox)
        self.outbox = self.outbox[sent:]

    def on_readable(self) -> list[Ending]:
        """Take what the policy has said, and step the environments when it is complete."""
        try:
            chunk = os.read(self.worker.response, frames.CHUNK)
        except BlockingIOError:
            return []
        if not chunk:
            self._died()
            return self._take_endings()
        # By far the most frequent case: one whole frame with the actions that were asked for.
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
        """Give the policy more time, since it could not be heard for so long."""
        self.deadline += seconds
        self._episode_deadline += seconds

    def belongs_to(self, request: int) -> bool:
        """Return whether the channel plays for this request."""
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
        """Step every active environment with its action, and send what they lead to."""
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
        """Fail the only active episode, or have each of several played again alone: one of them is to blame, not all."""
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
