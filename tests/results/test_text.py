from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heredity.results import text


@pytest.mark.parametrize("value", [None, math.nan, math.inf, -math.inf, "12", True, [], 10**400])
def test_what_is_not_a_finite_number_is_a_dash(value: object) -> None:
    for write in (text.number, text.signed, text.percent, text.p_value, text.duration, text.amount):
        assert write(value) == text.DASH


@pytest.mark.parametrize(
    ("value", "decimals", "written"),
    [
        (-92.13, 1, f"{text.MINUS}92.1"),
        (-0.004, 1, "0.0"),
        (12345.6, None, f"12{text.THIN_SPACE}346"),
        (0.03214, None, "0.03214"),
        (7, None, "7"),
        (2e12, None, "2.00e+12"),
    ],
)
def test_numbers_are_written_as_people_read_them(value: float, decimals: int | None, written: str) -> None:
    assert text.number(value, decimals) == written


def test_decimals_follow_from_the_interval() -> None:
    assert text.interval(-95.04, -89.3) == f"[{text.MINUS}95.0, {text.MINUS}89.3]"
    assert text.interval(-133, -58) == f"[{text.MINUS}133, {text.MINUS}58]"
    assert text.interval(-2049, 657) == f"[{text.MINUS}2049, 657]"
    assert text.interval(0.5721, 0.7049) == "[0.572, 0.705]"
    assert text.interval(1.0, None) == text.DASH


@given(st.floats(-1e15, 1e15, allow_nan=False), st.one_of(st.none(), st.integers(0, 6)))
def test_a_written_number_is_near_its_value_and_never_minus_zero(value: float, decimals: int | None) -> None:
    back = float(text.number(value, decimals).replace(text.THIN_SPACE, "").replace(text.MINUS, "-"))
    assert back == pytest.approx(value, rel=0.006, abs=0.6 * 10 ** -(decimals if decimals is not None else 4))
    assert math.copysign(1, back) == 1 or back != 0


@pytest.mark.parametrize(("p", "written"), [(0.0004, "< 0.001"), (0.0412, "0.041"), (0.62, "0.62")])
def test_p_values_have_two_digits(p: float, written: str) -> None:
    assert text.p_value(p) == written


@pytest.mark.parametrize(
    ("seconds", "written"), [(0.0123, "12 ms"), (3.21, "3.2 s"), (45, "45 s"), (150, "2.5 min"), (9000, "2.5 h")]
)
def test_durations_choose_their_unit(seconds: float, written: str) -> None:
    assert text.duration(seconds) == written


@given(st.text())
def test_cleaned_text_can_be_written_to_a_file(value: str) -> None:
    text.clean(value).encode()
    assert "\x1b" not in text.clean(value)


def test_lone_surrogates_and_control_characters_are_replaced() -> None:
    assert text.clean("a\ud800b\x1b[31mc") == r"a\ud800b\x1b[31mc"
    assert text.clean("name\u202etxt.exe\u2066 \x9b2J") == r"name\u202etxt.exe\u2066 \x9b2J"
    assert text.clean("kept\tas\r\nit is\rhidden") == "kept\tas\r\nit is\\rhidden"


def test_signs_are_written_on_differences() -> None:
    assert [text.signed(v, 2) for v in (0.5, -0.5, 0.0, 0.001)] == ["+0.50", f"{text.MINUS}0.50", "0.00", "0.00"]


def test_counts_are_short() -> None:
    assert [text.amount(v) for v in (950, 12_300, 4_560_000)] == ["950", "12.3k", "4.56M"]


def test_a_taskset_is_called_by_its_last_part_and_a_mix_by_its_members() -> None:
    assert text.short_task("gymnasium/Acrobot-v1") == "Acrobot-v1"
    assert text.short_task("questions/mix/gsm8k+reasoning-gym/gcd") == "gsm8k + gcd"
    assert text.short_task("questions/mix/a/b+c+d/e+f+g") == "b + c + 3 more"
    assert text.short_task("odd/") == "odd/"


def test_tasksets_that_would_be_called_alike_keep_their_full_names() -> None:
    names = ["a/x", "b/x", "c/y", "questions/mix/m+n+o+p", "questions/mix/m+n+q+r"]
    assert text.task_names(names) == {name: "y" if name == "c/y" else name for name in names}


def test_long_names_keep_both_ends() -> None:
    assert text.shorten("learn-best-instruction-agent", 22) == "learn-best-…tion-agent"
    assert text.shorten("short", 22) == "short"
    assert len(text.shorten("learn-best-instruction-prompt", 15)) == 15
