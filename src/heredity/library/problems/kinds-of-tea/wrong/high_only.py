class Solution:
    def tastings(self, teas, low, high):
        count, start, total = {}, 0, 0
        for place, tea in enumerate(teas):
            count[tea] = count.get(tea, 0) + 1
            while len(count) > high:
                gone = teas[start]
                count[gone] -= 1
                if not count[gone]:
                    del count[gone]
                start += 1
            if len(count) >= low:
                total += place + 1 - start
        return total
