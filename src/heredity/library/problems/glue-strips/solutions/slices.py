from functools import lru_cache


class Solution:
    def leastGlue(self, widths):
        @lru_cache(None)
        def least(strips):
            if len(strips) == 1:
                return 0
            total, left, found = sum(strips), 0, 1 << 60
            for cut in range(1, len(strips)):
                left += strips[cut - 1]
                found = min(found, least(strips[:cut]) + least(strips[cut:]) + max(left, total - left))
            return found

        return least(tuple(widths))
