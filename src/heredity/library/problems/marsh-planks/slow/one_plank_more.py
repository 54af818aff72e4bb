class Solution:
    def climb(self, heights):
        # Lets one more height of planks in and walks anew.
        rows, columns = len(heights), len(heights[0])
        flat = [height for row in heights for height in row]
        size = rows * columns
        around = [[] for _ in range(size)]
        levels = {0}
        for at in range(size):
            for other in ([at + 1] if (at + 1) % columns else []) + ([at + columns] if at + columns < size else []):
                high = abs(flat[at] - flat[other])
                levels.add(high)
                around[at].append((other, high))
                around[other].append((at, high))
        for level in sorted(levels):
            seen = bytearray(size)
            stack = list(range(0, size, columns))
            for at in stack:
                seen[at] = 1
            while stack:
                at = stack.pop()
                if at % columns == columns - 1:
                    return level
                for other, high in around[at]:
                    if high <= level and not seen[other]:
                        seen[other] = 1
                        stack.append(other)
        return None
