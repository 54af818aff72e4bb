from heapq import heapify, heappop


class Solution:
    def takings(self, places, stalls):
        # Takes the best place by what it brings beyond its neighbours' mean.
        heap = []
        for i, value in enumerate(places):
            beside = places[max(0, i - 1) : i] + places[i + 1 : i + 2]
            heap.append((sum(beside) - 2 * value, i))
        heapify(heap)
        taken, total = set(), 0
        while heap and stalls:
            _, place = heappop(heap)
            if not taken & {place - 1, place + 1}:
                taken.add(place)
                total, stalls = total + places[place], stalls - 1
        return total
