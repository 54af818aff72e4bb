from heapq import heapify, heappop, heappush


class Solution:
    def water(self, walls, drains):
        count = len(walls)
        outer = {0, count - 1, *drains}
        seen = bytearray(count)
        heap = [(walls[place], place) for place in outer]
        for place in outer:
            seen[place] = 1
        heapify(heap)
        total = 0
        while heap:
            level, place = heappop(heap)
            total += level - walls[place]
            for other in (place - 1, place + 1):
                if 0 <= other < count and not seen[other]:
                    seen[other] = 1
                    heappush(heap, (max(level, walls[other]), other))
        return total
