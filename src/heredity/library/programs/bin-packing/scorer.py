"""Verifies a packing."""

import random

CAPACITY, ITEMS = 150, 150


def items(seed):
    """Return the sizes of an instance."""
    draw = random.Random(f"bin-packing {seed}")
    return [draw.randint(20, 100) for _ in range(ITEMS)]


def verify(answer, seed):
    """Return bins over their bound; raise ValueError if a bin is too full."""
    sizes = items(seed)
    if not isinstance(answer, list) or len(answer) != ITEMS or not all(type(v) is int for v in answer):
        raise ValueError(f"give a list of {ITEMS} numbers of bins")
    loads = {}
    for size, bin_number in zip(sizes, answer):
        loads[bin_number] = loads.get(bin_number, 0) + size
    if max(loads.values()) > CAPACITY:
        raise ValueError(f"a bin holds {max(loads.values())}, and its capacity is {CAPACITY}")
    return {"bins_over_bound": len(loads) / -(-sum(sizes) // CAPACITY), "bins": len(loads)}
