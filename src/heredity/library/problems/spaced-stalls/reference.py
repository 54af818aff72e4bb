from heapq import heapify, heappop, heappush


class Solution:
    def takings(self, places, stalls):
        end = -(10**15)
        value = [end, *places, end]
        before, after = [0, *range(len(places) + 1)], [*range(1, len(places) + 2), len(places) + 1]
        gone = [False] * len(value)
        heap = [(-value[i], i) for i in range(1, len(value) - 1)]
        heapify(heap)
        total = 0
        while stalls:
            gain, place = heappop(heap)
            if gone[place]:
                continue
            total -= gain
            stalls -= 1
            # Three places become one: to take it later is to take both outer ones in place of the middle one.
            left, right = before[place], after[place]
            value[place] = max(value[left] + value[right] - value[place], end) if left != right else end
            gone[left] = gone[right] = True
            before[place], after[place] = before[left], after[right]
            after[before[place]], before[after[place]] = place, place
            heappush(heap, (-value[place], place))
        return total
