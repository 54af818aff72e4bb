class Solution:
    def blends(self, signals):
        def grouped(part):
            """The blends of a part's beginnings, with how many there are of each."""
            blend, out = 0, {}
            for signal in part:
                blend |= signal
                out[blend] = out.get(blend, 0) + 1
            return out

        def total(part):
            if len(part) == 1:
                return part[0]
            middle = len(part) // 2
            left, right = grouped(reversed(part[:middle])), grouped(part[middle:])
            across = sum((one | other) * a * b for one, a in left.items() for other, b in right.items())
            return total(part[:middle]) + total(part[middle:]) + across

        return total(signals)
