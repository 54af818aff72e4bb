from heapq import heapify, heappop, heappush


class Solution:
    def takings(self, places, stalls):
        # Stretches by their two ends: the gain of changing the stalls within it.
        end = -(10**15)
        sums = {(i, i): value for i, value in enumerate(places)}
        starts, stops = {i: i for i in range(len(places))}, {i: i for i in range(len(places))}
        heap = [(-value, i, i) for i, value in enumerate(places)]
        heapify(heap)
        total = 0
        while stalls:
            loss, a, b = heappop(heap)
            if starts.get(a) != b:
                continue
            total -= loss
            stalls -= 1
            new, low, high = loss, a, b
            del starts[a], stops[b]
            if a - 1 in stops:
                low = stops.pop(a - 1)
                del starts[low]
                new += sums[low, a - 1]
            else:
                new = end
            if b + 1 in starts:
                high = starts.pop(b + 1)
                del stops[high]
                new += sums[b + 1, high]
            else:
                new = end
            new = max(new, end)
            sums[low, high], starts[low], stops[high] = new, high, low
            heappush(heap, (-new, low, high))
        return total
