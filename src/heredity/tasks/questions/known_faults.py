"""Known faults of data sets that come in packages, by version: wrong keys, and keys that a usual reading contradicts.

Keys are not corrected: answers are scored as the package scores them, so that scores stay comparable. Tasksets, preflight and
reports say what is wrong. A new entry needs the package, the data set, the versions in which the fault was seen, and what it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version


@dataclass(frozen=True, slots=True)
class KnownFault:
    """A fault of a data set.

    Attributes:
        package: the distribution that has it.
        dataset: its name there.
        versions: those in which the fault was seen.
        what: what is wrong, with how many keys of how many were looked at.
    """

    package: str
    dataset: str
    versions: tuple[str, ...]
    what: str


KNOWN_FAULTS = (
    KnownFault(
        "reasoning-gym",
        "syllogism",
        ("0.1.25",),
        'about one key in eight is wrong (374 of 3,000): from "All A are B" and "Some B are C" or "Some B are not C" it '
        "concludes something of A; a right answer scores 0 there",
    ),
    KnownFault(
        "reasoning-gym",
        "power_function",
        ("0.1.25",),
        "three keys in ten (87 of 300) take -2^4 for (-2)^4: a negative base has no parentheses before an even exponent, and the "
        "usual reading, -(2^4), scores 0",
    ),
)
"""Of reasoning-gym 0.1.25 these data sets had no wrong key among 300 each, by solvers of our own: base_conversion, binary_matrix,
bitwise_arithmetic, circuit_logic, count_bits, count_primes, course_schedule, dice, gcd, knights_knaves, largest_island, lcm,
letter_counting, number_sorting, prime_factorization, products, rotten_oranges, shortest_path, spell_backward; and time_intervals
among 155."""


def fault_notes(package: str, dataset: str) -> tuple[str, ...]:
    """Return what is known to be wrong with a data set, and whether that was seen in the installed version."""
    faults = [fault for fault in KNOWN_FAULTS if (fault.package, fault.dataset) == (package, dataset)]
    return tuple(f"known fault of {dataset} in {_seen(fault)}: {fault.what}" for fault in faults)


def _seen(fault: KnownFault) -> str:
    try:
        installed = version(fault.package)
    except PackageNotFoundError:
        installed = ""
    seen = f"{fault.package} {', '.join(fault.versions)}"
    return seen if installed in fault.versions else f"{seen} (not looked for in the installed {installed or 'none'})"
