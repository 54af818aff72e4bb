class Solution:
    def climb(self, heights):
        # A spanning tree of the easiest planks; then how hard the way to each tussock is in it.
        rows, columns = len(heights), len(heights[0])
        size = rows * columns
        flat = [height for row in heights for height in row]
        planks = [(abs(flat[at] - flat[at + 1]), at, at + 1) for at in range(size) if (at + 1) % columns]
        planks += [(abs(flat[at] - flat[at + columns]), at, at + columns) for at in range(size - columns)]
        planks += [(0, size, at) for at in range(0, size, columns)]
        above, around = list(range(size + 1)), [[] for _ in range(size + 1)]
        for high, a, b in sorted(planks):
            one, other = a, b
            while above[one] != one:
                above[one] = one = above[above[one]]
            while above[other] != other:
                above[other] = other = above[above[other]]
            if one != other:
                above[one] = other
                around[a].append((b, high))
                around[b].append((a, high))
        hard, stack = [-1] * (size + 1), [size]
        hard[size] = 0
        while stack:
            at = stack.pop()
            for other, high in around[at]:
                if hard[other] < 0:
                    hard[other] = max(high, hard[at])
                    stack.append(other)
        return min(hard[at] for at in range(columns - 1, size, columns))
