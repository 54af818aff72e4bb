class Solution:
    def tastings(self, teas, low, high):
        def up_to(kinds):
            count, start, total = {}, 0, 0
            for place, tea in enumerate(teas):
                count[tea] = count.get(tea, 0) + 1
                while len(count) > kinds:
                    gone = teas[start]
                    count[gone] -= 1
                    if not count[gone]:
                        del count[gone]
                    start += 1
                total += place + 1 - start
            return total

        return up_to(high) - up_to(low)
