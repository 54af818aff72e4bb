"""No training: submits a copy of the base model. A benchmark that scores this above 0 is wrong."""

from __future__ import annotations

import shutil

from workspace import Workspace


def main() -> None:
    space = Workspace()
    space.leave_when_told()
    space.record()
    copy = space.output / "checkpoint_1"
    shutil.copytree(space.model, copy, copy_function=shutil.copyfile, dirs_exist_ok=True)
    space.submit(copy)


if __name__ == "__main__":
    main()
