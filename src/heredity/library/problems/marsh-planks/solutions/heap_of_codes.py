from heapq import heappop, heappush


class Solution:
    def climb(self, heights):
        # A border of None on all sides; heap entries are numbers.
        rows, columns = len(heights), len(heights[0])
        wide = columns + 1
        flat = [None] * wide
        for row in heights:
            flat += row + [None]
        flat += [None] * wide
        heap = [wide + row * wide for row in range(rows)]
        done = bytearray(len(flat))
        code = 1 << 20
        while heap:
            far, at = divmod(heappop(heap), code)
            if done[at]:
                continue
            done[at] = 1
            if at % wide == columns - 1:
                return far
            here = flat[at]
            for other in (at - 1, at + 1, at - wide, at + wide):
                there = flat[other]
                if there is not None and not done[other]:
                    heappush(heap, max(far, abs(there - here)) * code + other)
        return None
