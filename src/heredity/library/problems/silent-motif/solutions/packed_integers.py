P = 1_000_000_007


SHIFT = 96


def packed(values):
    return int.from_bytes(b"".join((value % P).to_bytes(SHIFT // 8, "little") for value in values), "little")


def unpacked(number, count):
    data = number.to_bytes(count * SHIFT // 8, "little")
    return [int.from_bytes(data[i : i + SHIFT // 8], "little") % P for i in range(0, len(data), SHIFT // 8)]


class Solution:
    def peals(self, bells, motif, strokes):
        # As a coefficient of a quotient of polynomials, each of which is one large integer while they are multiplied.
        size = len(motif)
        above = [int(motif[k:] == motif[: size - k]) for k in range(size)]
        below = [a - bells * b for a, b in zip([*above, 1], [0, *above])]
        while strokes:
            mirror = packed([-value if k & 1 else value for k, value in enumerate(below)])
            above = unpacked(packed(above) * mirror, len(above) + size)[strokes & 1 :: 2]
            below = unpacked(packed(below) * mirror, 2 * size + 1)[::2]
            strokes >>= 1
        return (above or [0])[0] * pow(below[0], P - 2, P) % P
