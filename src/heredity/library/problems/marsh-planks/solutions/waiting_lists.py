from heapq import heappop, heappush


class Solution:
    def climb(self, heights):
        # Floods from the left; what is too steep waits under its height.
        rows, columns = len(heights), len(heights[0])
        size = rows * columns
        flat = sum(heights, []) if rows < 200 else [height for row in heights for height in row]
        waiting, order, reached, level = {0: list(range(0, size, columns))}, [0], bytearray(size), 0
        while order:
            level = heappop(order)
            stack = waiting.pop(level)
            while stack:
                at = stack.pop()
                if reached[at]:
                    continue
                reached[at] = 1
                column = at % columns
                if column == columns - 1:
                    return level
                for other in (at + 1, at - 1 if column else -1, at - columns, at + columns):
                    if 0 <= other < size and not reached[other]:
                        rise = abs(flat[other] - flat[at])
                        if rise <= level:
                            stack.append(other)
                        elif rise in waiting:
                            waiting[rise].append(other)
                        else:
                            waiting[rise] = [other]
                            heappush(order, rise)
        return None
