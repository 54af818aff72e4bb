from math import gcd


class Solution:
    def loneMinute(self, periods, k):
        # Of the rings of one bell, numbered 1, 2, 3 …, every so manyth is shared with another one.
        others = []
        for i, one in enumerate(periods):
            shared = sorted({other // gcd(one, other) for j, other in enumerate(periods) if j != i})
            keep = [a for a in shared if not any(a % b == 0 and a != b for b in shared)]
            if 1 not in keep:
                others.append((one, keep))

        def free(top, steps):
            """How many of 1 … top no step divides."""
            if not steps or not top:
                return top
            first, *rest = steps
            return free(top, rest) - free(top // first, [step // gcd(step, first) for step in rest])

        if not others:
            return -1
        low, high = 0, 6_000 * k + 10**6
        while high - low > 1:
            middle = (low + high) // 2
            if sum(free(middle // one, steps) for one, steps in others) < k:
                low = middle
            else:
                high = middle
        return high
