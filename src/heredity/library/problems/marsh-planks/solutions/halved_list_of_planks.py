from collections import deque


class Solution:
    def climb(self, heights):
        rows, columns = len(heights), len(heights[0])
        size = rows * columns
        flat = [height for row in heights for height in row]
        around = [[] for _ in range(size)]
        levels = {0}
        for at in range(size):
            nexts = []
            if (at + 1) % columns:
                nexts.append(at + 1)
            if at + columns < size:
                nexts.append(at + columns)
            for other in nexts:
                high = abs(flat[at] - flat[other])
                levels.add(high)
                around[at].append((high, other))
                around[other].append((high, at))
        for row in around:
            row.sort()
        levels = sorted(levels)
        low, high = 0, len(levels) - 1
        while low < high:
            middle = (low + high) // 2
            queue = deque(range(0, size, columns))
            seen = [False] * size
            for at in queue:
                seen[at] = True
            while queue:
                at = queue.popleft()
                for rise, other in around[at]:
                    if rise > levels[middle]:
                        break
                    if not seen[other]:
                        seen[other] = True
                        queue.append(other)
            if any(seen[columns - 1 :: columns]):
                high = middle
            else:
                low = middle + 1
        return levels[low]
