class Solution:
    def climb(self, heights):
        rows, columns = len(heights), len(heights[0])
        size = rows * columns
        flat = [height for row in heights for height in row]
        planks = [(abs(flat[at] - flat[at + 1]), at, at + 1) for at in range(size) if (at + 1) % columns]
        planks += [(abs(flat[at] - flat[at + columns]), at, at + columns) for at in range(size - columns)]
        planks.sort()

        def crosses(number):
            above = list(range(size))

            def find(x):
                while above[x] != x:
                    above[x] = x = above[above[x]]
                return x

            for _, a, b in planks[:number]:
                a, b = find(a), find(b)
                if a != b:
                    above[a] = b
            return bool(
                {find(at) for at in range(0, size, columns)} & {find(at) for at in range(columns - 1, size, columns)}
            )

        low, high = 0, len(planks)
        while low < high:
            middle = (low + high) // 2
            if crosses(middle):
                high = middle
            else:
                low = middle + 1
        return planks[low - 1][0] if low else 0
