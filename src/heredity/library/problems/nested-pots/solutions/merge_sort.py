class Solution:
    def fewestPiles(self, sizes, gap):
        def ordered(values):
            if len(values) < 2:
                return values
            middle = len(values) // 2
            left, right = ordered(values[:middle])[::-1], ordered(values[middle:])[::-1]
            merged = []
            while left and right:
                merged.append(left.pop() if left[-1] <= right[-1] else right.pop())
            return merged + left[::-1] + right[::-1]

        order = ordered(sizes)
        inner = 0
        for size in order[(len(order) + 1) // 2 :]:
            inner += order[inner] + gap <= size
        return len(order) - inner
