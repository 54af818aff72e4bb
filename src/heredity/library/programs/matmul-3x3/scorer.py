"""Verifies a bilinear scheme for 3 x 3 matrices, coefficient by coefficient."""

from fractions import Fraction

SIZE, LARGEST = 3, 10**9


def verify(answer):
    """Return the number of multiplications; raise ValueError if the scheme is wrong."""
    if not isinstance(answer, list) or not 1 <= len(answer) <= 200:
        raise ValueError("give a list of 1 to 200 triples [u, v, w]")
    terms = []
    for number, term in enumerate(answer):
        if not isinstance(term, list) or len(term) != 3 or not all(_is_row(part) for part in term):
            raise ValueError(
                f"triple {number} is not three lists of {SIZE * SIZE} numbers of at most {LARGEST:g} in size"
            )
        terms.append([[Fraction(v) for v in part] for part in term])
    cells = range(SIZE * SIZE)
    for a in cells:
        with_a = [term for term in terms if term[0][a]]
        for b in cells:
            with_b = [term for term in with_a if term[1][b]]
            for c in cells:
                entry = sum((u[a] * v[b] * w[c] for u, v, w in with_b), Fraction(0))
                wanted = a % SIZE == b // SIZE and a // SIZE == c // SIZE and b % SIZE == c % SIZE
                if entry != wanted:
                    raise ValueError(
                        f"entry {c} of the product has {entry} times A[{a}] B[{b}], not {int(wanted)} times"
                    )
    return {"multiplications": len(terms)}


def _is_row(part):
    return (
        isinstance(part, list)
        and len(part) == SIZE * SIZE
        and all(type(v) in (int, float) and abs(v) <= LARGEST for v in part)
    )
