from collections import deque


class Solution:
    def tastings(self, teas, low, high):
        def up_to(kinds):
            queue, last, inside, start, total = deque(), {}, 0, 0, 0
            for place, tea in enumerate(teas):
                if last.get(tea, -1) < start:
                    inside += 1
                last[tea] = place
                queue.append(place)
                while inside > kinds:
                    old = queue.popleft()
                    start = old + 1
                    if last[teas[old]] == old:
                        inside -= 1
                total += place + 1 - start
            return total

        return up_to(high) - up_to(low - 1)
