from collections import OrderedDict


class Solution:
    def tastings(self, teas, low, high):
        def up_to(kinds):
            # Kinds in the order of their last cups; the first of them goes when there are too many.
            last, start, total = OrderedDict(), 0, 0
            for place, tea in enumerate(teas):
                last[tea] = place
                last.move_to_end(tea)
                if len(last) > kinds:
                    start = last.popitem(last=False)[1] + 1
                total += place + 1 - start
            return total

        return up_to(high) - up_to(low - 1)
