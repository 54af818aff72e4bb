"""Verifies a sorting network on all inputs of zeros and ones, side by side as bits of large numbers."""

CHANNELS = 16


def verify(answer):
    """Return the number of comparators; raise ValueError if the network does not sort."""
    if not isinstance(answer, list) or len(answer) > 1000:
        raise ValueError("give a list of at most 1000 comparators [i, j]")
    inputs = 1 << CHANNELS
    ones = (1 << inputs) - 1
    # Bit n of channel c is bit c of n.
    values = []
    for channel in range(CHANNELS):
        block = ((1 << (1 << channel)) - 1) << (1 << channel)
        period = 2 << channel
        while period < inputs:
            block |= block << period
            period *= 2
        values.append(block & ones)
    for pair in answer:
        if not isinstance(pair, list) or len(pair) != 2 or not all(type(v) is int for v in pair):
            raise ValueError(f"{pair!r:.80} is no comparator; give two channels [i, j]")
        i, j = pair
        if not 0 <= i < j < CHANNELS:
            raise ValueError(f"{pair} is no comparator; channels are 0 to {CHANNELS - 1}, the first the smaller one")
        values[i], values[j] = values[i] & values[j], values[i] | values[j]
    for lower, upper in zip(values, values[1:]):
        if lower & ~upper & ones:
            wrong = (lower & ~upper & ones).bit_length() - 1
            raise ValueError(f"it does not sort {[wrong >> c & 1 for c in range(CHANNELS)]}")
    return {"comparators": len(answer)}
