"""Ranges of numbers in a configuration: a larger number is a typo, and would exhaust memory or never end."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

MOST_BYTES = 1 << 50

Cases = Annotated[int, Field(ge=1, le=100_000)]
CasesOrZero = Annotated[int, Field(ge=0, le=100_000)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]
CountOrZero = Annotated[int, Field(ge=0, le=1_000_000)]
Parallel = Annotated[int, Field(ge=1, le=10_000)]
Tokens = Annotated[int, Field(ge=1, le=10**12)]
Dollars = Annotated[float, Field(gt=0, le=10**9)]
Seconds = Annotated[float, Field(gt=0, le=10**8)]
SecondsOrZero = Annotated[float, Field(ge=0, le=10**8)]
