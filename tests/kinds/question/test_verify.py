from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.engine.questions import Question, Verification, verify
from heredity.engine.questions.contract import LETTERS
from heredity.engine.questions.verify import numbers
from heredity.models.contract import NOTHING_USED

from .scripted import Scripted


def check(said: str, answer: str, kind: str = "numeric", choices: tuple[str, ...] = (), **options: Any) -> Verification:
    spec = Question("What?", answer, {"kind": kind, **options}, choices).to_spec()
    return asyncio.run(verify(spec, said))


RIGHT = [
    ("Answer: 18", "18"),
    ("The 3 ducks lay 16 eggs.\n**Answer:** $18.00", "18"),
    ("so she makes 18 dollars.", "18"),
    ("#### 1,080", "1080"),
    ("It is \\boxed{1{,}080} eggs", "1080"),
    ("\\boxed{\\frac{3}{4}}", "0.75"),
    ("Answer: \\(\\dfrac{3}{4}\\)", "3/4"),
    ("Answer: \\frac34", "3/4"),
    ("Answer: 3/4", "0.75"),
    ("Answer: 1 1/2", "1.5"),
    ("Answer: 1½", "1.5"),
    ("Answer: \u22125", "-5"),
    ("Answer: -$5", "-5"),
    ("Answer: $-5$", "-5"),
    ("Answer: 50%", "50"),
    ("Answer: 50 percent", "0.5"),
    ("Answer: 0.5", "50%"),
    ("Answer: 50%", "50%"),
    ("Answer: 2.5 × 10^6", "2500000"),
    ("Answer: 2.5 \\times 10^{-3}", "0.0025"),
    ("Answer: 10⁵", "100000"),
    ("Answer: 6.02e23", "6.02e23"),
    ("Answer: 1\u202f080", "1080"),
    ("Answer: .5", "0.5"),
    ("Answer: x = 42", "42"),
    ("Answer: 3 + 4 = 7", "7"),
    ("Answer: 42 apples for 7 days", "42"),
    ("Answer: the 7 boys pay $42.", "42"),
    ("Answer: 18 m^2", "18"),
    ("The angle is \\boxed{336^\\circ}.", "336"),
    ("<think>Answer: 3</think>Answer: 18", "18"),
    ("the opening tag was in the template </think> Answer: 18", "18"),
    ("<answer>18</answer>", "18"),
    ("Answer:\n\n18", "18"),
    ("The answer is 17. No: the answer is 18.", "18"),
    ("final answer is **18**", "18"),
    ("\\boxed{\\text{18 eggs}}", "18"),
    ("109,200,000", "109200000"),
]


@pytest.mark.parametrize(("said", "answer"), RIGHT)
def test_a_number_is_read_however_it_is_written(said: str, answer: str):
    result = check(said, answer)
    assert (result.score, result.correct) == (1.0, True), result
    assert result.extracted


WRONG = [
    ("Answer: 17", "18"),
    ("", "18"),
    ("   ", "18"),
    ("I do not know.", "18"),
    ("<think>it must be 18", "18"),
    ("Answer: 17 or 18", "18"),
    ("Answer: 18 or 17", "18"),
    ("Answer: \\sqrt{18}", "18"),
    ("\\boxed{18\\pi}", "18"),
    ("\\boxed{18^2}", "18"),
    ("Answer: 18/0", "18"),
    ("Answer: 5-18", "-18"),
    ("Answer: 18e999999999", "18"),
    ("Answer: " + "9" * 100_000, "18"),
    ("Answer: 18.001", "18"),
    ("18 was my first guess. Answer: 17", "18"),
    ("H2O and x_18", "18"),
    ("Answer: 0.18", "18"),
]


@pytest.mark.parametrize(("said", "answer"), WRONG)
def test_another_number_or_none_is_wrong_with_a_reason(said: str, answer: str):
    result = check(said, answer)
    assert (result.score, result.correct) == (0.0, False), result
    assert result.reason


def test_tolerance_is_relative_or_absolute_and_may_be_none():
    assert check("Answer: 0.3333333", "1/3", relative=1e-6).correct
    assert not check("Answer: 0.333", "1/3", relative=1e-6).correct
    assert check("Answer: 10.4", "10", absolute=0.5).correct
    assert not check("Answer: 109200001", "109200000", relative=0.0).correct
    assert check("Answer: 109200001", "109200000", relative=1e-6).correct


@given(
    st.integers(-(10**12), 10**12),
    st.sampled_from(["{}", "${}", "{:,}", "{}.00", "{} eggs", "\\boxed{{{}}}", "**{}**"]),
)
def test_every_integer_is_read_back_in_every_form(value: int, form: str):
    assert check(f"So 7 of 9.\nAnswer: {form.format(value)}", str(value), relative=0.0).correct


@given(st.integers(-999, 999), st.integers(-999, 999))
def test_two_different_integers_never_match(said: int, answer: int):
    assert check(f"Answer: {said}", str(answer)).correct == (said == answer)


def test_digits_of_words_exponents_and_ranges_are_read_as_what_they_are():
    assert [str(n.value) for n in numbers("H2O, x2, 5^7 pages 10-12, 3,4 and 1,234.5")] == [
        *("5", "10", "12", "3", "4", "2469/2")
    ]


@pytest.mark.parametrize(
    ("said", "correct"),
    [
        ("Answer: 25", True),
        ("\\boxed{025}", True),
        ("Answer: 25.0", True),
        ("Answer: 25.5", False),
        ("Answer: 25%", False),
        ("Answer: 1025", False),
        ("Answer: -25", False),
        ("The sum m+n is 9 + 16 = 25.", True),
    ],
)
def test_an_integer_is_whole_and_within_its_bounds(said: str, correct: bool):
    assert check(said, "025", "integer", minimum=0, maximum=999).correct == correct


OPTIONS = ("A blue whale", "Krill", "both of them", "42")
CHOICES = [
    *[(form, "B") for form in ("B", "b", "(B)", "[B]", "B.", "B)", "B:", "**B**", "B) Krill", "B. Krill", "B - Krill")],
    *[(f"Answer: {form}", "B") for form in ("B", "(b)", "b.", "**(B)**", "Option B", "$\\boxed{\\text{B}}$", "Krill")],
    ("The answer is (B), because A is wrong.", "B"),
    ("The correct option is B", "B"),
    ("\\boxed{B}", "B"),
    ("<answer>B</answer>", "B"),
    ("Long thoughts about (A) and (C).\nAnswer: B", "B"),
    ("It eats krill.", "B"),
    ("Answer: 42", "D"),
    ("Answer: A blue whale", "A"),
    ("Answer: A", "A"),
    ("Answer: A blue\nwhale", "A"),
    ("Option A is correct", "A"),
    ("Answer: option A is the one", "A"),
    ("Answer: not B but A", "A"),
    ("A bigger animal would be something else", ""),
    ("Answer: both of them", "C"),
    ("Let me see.\n\nSo I choose (C).", "C"),
    ("Option D is correct", "D"),
    ("Answer: A or B", ""),
    ("Answer: (A) and (B)", ""),
    ("Answer: A, B", ""),
    ("Answer: A/B", ""),
    ("(A) looks good, and so does (B).", ""),
    ("Answer: E", ""),
    ("Answer: none", ""),
    ("Answer: a mammal", ""),
    ("I think so.", ""),
    ("Answer: not A but B", "B"),
    ("krill or 42", ""),
]


@pytest.mark.parametrize(("said", "letter"), CHOICES)
def test_an_option_is_named_by_letter_or_words_and_doubt_is_wrong(said: str, letter: str):
    for right in "ABCD":
        result = check(said, right, "choice", OPTIONS)
        assert result.correct == (right == letter), (right, result)
        assert result.extracted == letter
        assert result.reason


@given(st.integers(2, 10), st.data())
def test_every_letter_of_up_to_ten_options_is_read(count: int, data: st.DataObject):
    options = tuple(f"number {i}" for i in range(count))
    letter = data.draw(st.sampled_from(LETTERS[:count]))
    form = data.draw(st.sampled_from(["{}", "({})", "{}.", "Answer: {}", "Answer: ({})", "the answer is {}."]))
    assert check(form.format(letter), letter, "choice", options).correct


@pytest.mark.parametrize(
    ("said", "options", "correct"),
    [
        ("Answer: new   YORK", {}, True),
        ("Answer: New York.", {}, True),
        ("new york", {}, True),
        ("Answer: New-York!", {}, False),
        ("Answer: New-York!", {"ignore": ["case", "whitespace", "punctuation"]}, True),
        ("Answer: new york", {"ignore": []}, False),
        ("Answer: New York", {"ignore": []}, True),
        ("It is New York", {}, False),
        ("```\nNew York\n```", {}, True),
    ],
)
def test_words_are_compared_up_to_what_is_ignored(said: str, options: dict[str, Any], correct: bool):
    assert check(said, "New York", "exact", **options).correct == correct


def test_an_answer_of_several_lines_is_read_to_its_end():
    assert check("Answer:\n1 2\n3 4", "1 2\n3 4", "exact").correct


KINDS: list[tuple[str, str, tuple[str, ...]]] = [
    ("numeric", "5", ()),
    ("integer", "5", ()),
    ("choice", "B", OPTIONS),
    ("exact", "five", ()),
]


@given(st.text() | st.text("AB(){}\\boxed answer:=/^.,-$%0123456789e\n<>_*", max_size=300), st.sampled_from(KINDS))
def test_no_answer_makes_a_verifier_fail(said: str, kind: tuple[str, str, tuple[str, ...]]):
    result = check(said, kind[1], kind[0], kind[2])
    assert result.score in (0.0, 1.0)
    assert result.correct == (result.score == 1.0)
    assert result.usage == NOTHING_USED


@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k[0])
@pytest.mark.parametrize(
    "piece",
    [
        "9",
        "9,",
        "1/",
        "answer: ",
        "\\boxed{",
        "{",
        "(A) ",
        "- ",
        " ",
        "<answer>",
        "\\frac{1}",
        "10^",
        "1 1/",
        "\ud800",
        "\0",
    ],
)
def test_a_huge_answer_is_read_in_little_time(kind: tuple[str, str, tuple[str, ...]], piece: str):
    start = time.process_time()
    result = check(piece * (600_000 // len(piece)), kind[1], kind[0], kind[2])
    # Far above what it takes, far below what a quadratic reading would take.
    assert time.process_time() - start < 5
    assert not result.correct
    assert len(result.extracted) <= 2000
    assert len(result.reason) < 500


async def test_a_judge_decides_where_no_rule_can_and_its_usage_is_returned():
    spec = Question("Why?", "Because.", {"kind": "judge", "rubric": "Be kind.", "pass_at": 0.7}).to_spec()
    judge = Scripted('{"score": 0.6, "reason": "nearly"}')
    result = await verify(spec, "<think>hm</think>Since.", judge=judge)
    assert (result.score, result.correct, result.reason, result.usage.cost_usd) == (0.6, False, "nearly", 0.5)
    prompt = judge.asked[0].messages[-1].content
    assert all(part in prompt for part in ("Why?", "Because.", "Since.", "Be kind."))
    assert "hm" not in prompt
    with pytest.raises(ConfigError, match="name one as the judge"):
        await verify(spec, "Since.")
    assert (await verify(spec, "")).score == 0.0


def test_a_spec_that_is_no_question_is_refused():
    with pytest.raises(UnknownNameError, match="numeric"):
        Question("What?", "1", {"kind": "numerc"})
    with pytest.raises(UnknownNameError, match="relative"):
        Question("What?", "1", {"kind": "numeric", "relativ": 1})
    with pytest.raises(ConfigError, match="'question'"):
        asyncio.run(verify({"seed": 3}, "1"))
    with pytest.raises(ConfigError, match="no single number"):
        check("1", "one or two")
    with pytest.raises(ConfigError, match="a letter up to B"):
        Question("What?", "C", {"kind": "choice"}, ("x", "y"))
    with pytest.raises(ConfigError, match="0 choices"):
        Question("What?", "A", {"kind": "choice"})
    with pytest.raises(ConfigError, match="11 choices"):
        Question("What?", "A", {"kind": "choice"}, tuple(map(str, range(11))))
