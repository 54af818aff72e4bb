"""Items into bins: each item goes where a rule says that it fits best."""

import random

CAPACITY, ITEMS = 150, 150


def items(seed):
    """Return the sizes of an instance."""
    draw = random.Random(f"bin-packing {seed}")
    return [draw.randint(20, 100) for _ in range(ITEMS)]


def solve(seed):
    sizes = items(seed)
    loads, places = [], [0] * len(sizes)
    for index in order(sizes):
        fitting = [b for b, load in enumerate(loads) if load + sizes[index] <= CAPACITY]
        if fitting:
            best = max(fitting, key=lambda b: priority(sizes[index], CAPACITY - loads[b], b))
        else:
            best = len(loads)
            loads.append(0)
        loads[best] += sizes[index]
        places[index] = best
    return places


# EVOLVE-BLOCK-START
GAP, EARLY, LARGE = 0.0, 1.0, 0.0


def order(sizes):
    """Return in which order items are packed."""
    return sorted(range(len(sizes)), key=lambda i: i - LARGE * sizes[i])


def priority(size, room, number):
    """Return how much an item is to go into a bin with that much room."""
    return -EARLY * number - GAP * (room - size)
# EVOLVE-BLOCK-END
