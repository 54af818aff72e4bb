class Solution:
    def climb(self, heights):
        rows, columns = len(heights), len(heights[0])
        size = rows * columns
        flat = [height for row in heights for height in row]
        planks = []
        for at in range(size):
            if (at + 1) % columns:
                planks.append((abs(flat[at] - flat[at + 1]), at, at + 1))
            if at + columns < size:
                planks.append((abs(flat[at] - flat[at + columns]), at, at + columns))
        planks.sort()
        above = list(range(size + 2))

        def find(x):
            while above[x] != x:
                above[x] = above[above[x]]
                x = above[x]
            return x

        for row in range(rows):
            above[find(row * columns)] = find(size)
            above[find(row * columns + columns - 1)] = find(size + 1)
        if find(size) == find(size + 1):
            return 0
        for high, a, b in planks:
            above[find(a)] = find(b)
            if find(size) == find(size + 1):
                return high
        return None
