class Solution:
    def tastings(self, teas, low, high):
        def up_to(kinds):
            count, stop, total = {}, len(teas), 0
            for place in range(len(teas) - 1, -1, -1):
                tea = teas[place]
                count[tea] = count.get(tea, 0) + 1
                while len(count) > kinds:
                    stop -= 1
                    gone = teas[stop]
                    count[gone] -= 1
                    if not count[gone]:
                        del count[gone]
                total += stop - place
            return total

        return up_to(high) - up_to(low - 1)
