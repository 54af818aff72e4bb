class Solution:
    def ledger(self, levels):
        count = len(levels)

        def tops(values):
            left, right, stack = [-1] * count, [count] * count, []
            for place in range(count):
                while stack and values[stack[-1]] < values[place]:
                    right[stack.pop()] = place
                if stack:
                    left[place] = stack[-1]
                stack.append(place)
            return sum(v * (p - a) * (b - p) * (b - a) // 2 for p, (v, a, b) in enumerate(zip(values, left, right)))

        return tops(levels) + tops([-level for level in levels])
