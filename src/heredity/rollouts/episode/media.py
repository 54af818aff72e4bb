"""Pictures and videos of episodes, encoded where the environment runs."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np

from heredity.errors import MissingExtraError
from heredity.sandbox.engine_folder import EngineFolder

_VIDEO = "video.mp4"


class MediaRecorder:
    """Keeps rendered frames of one episode.

    Args:
        wanted: `{"video": true}` for an mp4 of every frame, `{"frames": n}` for every n-th frame as PNG; both may be given.
    """

    def __init__(self, wanted: Mapping[str, Any]) -> None:
        self._every = int(wanted.get("frames") or 0)
        self._video: Any = None
        self._folder: EngineFolder | None = None
        self._wants_video = bool(wanted.get("video"))
        self._files: dict[str, bytes] = {}
        self._count = 0

    def keep(self, env: gymnasium.Env[Any, Any]) -> None:
        """Render the environment as it is now."""
        frame = np.asarray(env.render())
        if self._wants_video:
            self._video = self._video or self._open(env)
            self._video.append_data(frame)
        if self._every and self._count % self._every == 0:
            buffer = io.BytesIO()
            _imageio().imwrite(buffer, frame, format="png")
            self._files[f"frames/{self._count:05d}.png"] = buffer.getvalue()
        self._count += 1

    def files(self) -> dict[str, bytes]:
        """Finish the video and return every file: name to content."""
        if self._video is not None:
            self._video.close()
            assert self._folder is not None
            self._files[_VIDEO] = (self._folder.path / _VIDEO).read_bytes()
            self._folder.remove()
            self._video = None
        return self._files

    def _open(self, env: gymnasium.Env[Any, Any]) -> Any:
        self._folder = EngineFolder()
        fps = env.metadata.get("render_fps") or 30
        return _imageio().get_writer(self._folder.path / _VIDEO, fps=fps, macro_block_size=2)


def _imageio() -> Any:
    try:
        import imageio.v2 as imageio
    except ImportError as error:
        raise MissingExtraError("recording pictures", "video") from error
    return imageio
