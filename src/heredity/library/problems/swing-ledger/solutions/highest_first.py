from bisect import bisect_left


class Solution:
    def ledger(self, levels):
        count = len(levels)

        def tops(sign):
            seen, total = [-1, count], 0
            for place in sorted(range(count), key=lambda day: (-sign * levels[day], day)):
                at = bisect_left(seen, place)
                left, right = place - seen[at - 1], seen[at] - place
                seen.insert(at, place)
                total += sign * levels[place] * (left * right * (left + right) // 2)
            return total

        return tops(1) + tops(-1)
