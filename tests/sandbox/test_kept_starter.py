"""What starts zygotes on a thread of its own serves the next order whatever happened to the last one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from heredity.sandbox import zygote as kept


def test_an_error_of_any_kind_reaches_whoever_asked_and_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([OSError(24, "no descriptor is free"), RuntimeError("can't start new thread"), "a zygote"])

    def started(_settings: object) -> object:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(kept, "ZygoteProcess", started)
    starter = kept._Starter()  # pyright: ignore[reportPrivateUsage]
    with ThreadPoolExecutor(1) as pool:
        for expected in (OSError, RuntimeError):
            with pytest.raises(expected):
                pool.submit(starter.start, {}).result(60)
        assert pool.submit(starter.start, {}).result(60) == "a zygote"
