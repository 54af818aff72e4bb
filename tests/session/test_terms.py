from __future__ import annotations

from typing import Any

import pytest

from heredity._core.errors import ConfigError
from heredity.session.views import check_disjoint
from heredity.tasks import Task


def task(name: str, split: str, **spec: Any) -> Task:
    return Task(name, split, 0, spec)


def test_a_task_in_two_splits_is_refused_wherever_it_lies() -> None:
    train = [task("shell/count", "train", folder="/a/count", digest="d1")]
    copied = task("shell/again", "heldout", folder="/a/again", digest="d1")
    with pytest.raises(ConfigError, match="shell/again is both in train and in id"):
        check_disjoint(train, {"id": [copied]})
    check_disjoint(train, {"id": [task("shell/again", "heldout", folder="/a/again", digest="d2")]})


def test_tasks_without_a_digest_are_told_apart_by_what_they_say() -> None:
    check_disjoint([task("q/0", "train", question="1+1")], {"id": [task("q/0", "heldout", question="1+2")]})
    with pytest.raises(ConfigError, match="q/7 is both in train and in ood"):
        check_disjoint([task("q/0", "train", question=b"1+1")], {"ood": [task("q/7", "ood", question=b"1+1")]})
