from bisect import bisect_left, insort


class Solution:
    def takings(self, places, stalls):
        end = -(10**15)
        value = [end, *places, end]
        last = len(value) - 1
        before, after = [0, *range(last)], [*range(1, last + 1), last]
        order = sorted((one, i) for i, one in enumerate(value))
        total = 0
        for _ in range(stalls):
            best, place = order.pop()
            total += best
            left, right = before[place], after[place]
            new = max(end, value[left] + value[right] - best)
            for other in (left, right):
                # The street's ends stay for good.
                if other not in (0, last):
                    del order[bisect_left(order, (value[other], other))]
                    before[place], after[place] = (
                        (before[other], after[place]) if other == left else (before[place], after[other])
                    )
            after[before[place]] = before[after[place]] = place
            value[place] = end if left == 0 or right == last else new
            insort(order, (value[place], place))
        return total
