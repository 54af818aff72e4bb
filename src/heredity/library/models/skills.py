"""Skills that the rule follower can apply to a question when a rule names them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?")
_MOST_DIGITS = 40


class NotApplicableError(ValueError):
    """The question lacks the input of the skill."""


def _integers(question: str) -> list[int]:
    numbers = [int(n) for n in _NUMBER.findall(question) if "." not in n and len(n) <= _MOST_DIGITS]
    if not numbers:
        raise NotApplicableError("no whole numbers")
    return numbers


def _tail(question: str) -> str:
    """Return the text after the last colon, up to the end of its line."""
    _, colon, rest = question.strip().rpartition(":")
    if not colon or not rest.strip():
        raise NotApplicableError("nothing after a colon")
    return rest.strip().splitlines()[0].rstrip(". ")


def _listed(question: str) -> list[str]:
    return [word.strip() for word in _tail(question).split(",")]


def _quoted(question: str) -> list[str]:
    quoted = re.findall(r'"([^"]*)"', question)
    if len(quoted) < 2 or not quoted[0]:
        raise NotApplicableError("nothing in quotes")
    return quoted


def _signed_sum(question: str) -> str:
    terms = re.findall(r"([+-]?)\s*(\d+)", _tail(question))
    if not terms:
        raise NotApplicableError("no terms")
    return str(sum(-int(n) if sign == "-" else int(n) for sign, n in terms if len(n) <= _MOST_DIGITS))


def _ones(question: str) -> str:
    return str(_integers(question)[-1].bit_count())


def _primes_between(question: str) -> str:
    low, high = sorted(_integers(question)[-2:]) if len(_integers(question)) > 1 else (0, 10**9)
    if low < 0 or high > 100_000:
        raise NotApplicableError("too far")
    sieve = bytearray([1]) * (high + 1)
    sieve[:2] = b"\0\0"[: high + 1]
    for n in range(2, math.isqrt(high) + 1):
        if sieve[n]:
            sieve[n * n :: n] = bytes(len(range(n * n, high + 1, n)))
    return str(sum(sieve[low:]))


def _fraction(question: str) -> str:
    match = re.search(r"(\d{1,40})\s*/\s*(\d{1,40})", question)
    if match is None or not int(match[2]):
        raise NotApplicableError("no fraction")
    top, bottom = int(match[1]), int(match[2])
    common = math.gcd(top, bottom)
    return f"{top // common}/{bottom // common}"


def _time_between(question: str) -> str:
    times = re.findall(r"\b(\d\d):(\d\d):(\d\d)\b", question)
    if len(times) < 2:
        raise NotApplicableError("no two times")
    first, second = (int(h) * 3600 + int(m) * 60 + int(s) for h, m, s in times[:2])
    gap = (second - first) % 86_400
    return f"{gap // 3600:02d}:{gap // 60 % 60:02d}:{gap % 60:02d}"


def _prime_factors(question: str) -> str:
    rest, factors, divisor = abs(_integers(question)[0]), list[int](), 2
    if rest > 10**9:
        raise NotApplicableError("too large")
    while divisor * divisor <= rest:
        while rest % divisor == 0:
            factors.append(divisor)
            rest //= divisor
        divisor += 1
    return " × ".join(map(str, [*factors, *([rest] if rest > 1 else [])]))


def _two(question: str) -> tuple[int, int]:
    numbers = _integers(question)
    if len(numbers) < 2:
        raise NotApplicableError("fewer than two numbers")
    return numbers[0], numbers[1]


SKILLS: Mapping[str, Callable[[str], str]] = MappingProxyType(
    {
        "add and subtract what follows the colon": _signed_sum,
        "give the greatest common divisor of the numbers": lambda q: str(math.gcd(*_integers(q))),
        "give the least common multiple of the numbers": lambda q: str(math.lcm(*_integers(q))),
        "give the product of the first two numbers": lambda q: str(_two(q)[0] * _two(q)[1]),
        "give the sum of the numbers": lambda q: str(sum(_integers(q))),
        "give the largest number": lambda q: str(max(_integers(q))),
        "give the smallest number": lambda q: str(min(_integers(q))),
        "count the ones of the last number in binary": _ones,
        "count the primes between the two numbers": _primes_between,
        "count the quoted letter in the quoted text": lambda q: str(_quoted(q)[-1].count(_quoted(q)[0][0])),
        "write what follows the colon backwards": lambda q: _tail(q)[::-1],
        "list what follows the colon in reverse order": lambda q: ", ".join(_listed(q)[::-1]),
        "list what follows the colon in ascending order": lambda q: ", ".join(sorted(_listed(q))),
        "list what follows the colon in descending order": lambda q: ", ".join(sorted(_listed(q), reverse=True)),
        "give the fraction in lowest terms": _fraction,
        "give the time between the two times": _time_between,
        "give the prime factors of the first number": _prime_factors,
        "repeat what follows the colon": _tail,
    }
)
"""What it can do, by the words that a rule uses. All work on whole questions; `NotApplicableError` where they cannot."""


def apply_skill(name: str, question: str) -> str | None:
    """Apply a skill to a question; None if it is not applicable."""
    try:
        return SKILLS[name](question)
    except NotApplicableError:
        return None
