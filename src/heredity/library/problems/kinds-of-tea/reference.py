class Solution:
    def tastings(self, teas, low, high):
        def up_to(kinds):
            count, start, total, seen = {}, 0, 0, 0
            for place, tea in enumerate(teas):
                times = count.get(tea, 0)
                seen += not times
                count[tea] = times + 1
                while seen > kinds:
                    gone = teas[start]
                    count[gone] -= 1
                    seen -= not count[gone]
                    start += 1
                total += place + 1 - start
            return total

        return up_to(high) - up_to(low - 1)
