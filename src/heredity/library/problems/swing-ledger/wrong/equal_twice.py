class Solution:
    def ledger(self, levels):
        def reach(values, order):
            stack, found = [], {}
            for place in order:
                while stack and values[stack[-1]] < values[place]:
                    stack.pop()
                found[place] = abs(place - stack[-1]) if stack else abs(place - (-1 if order[0] == 0 else len(values)))
                stack.append(place)
            return found

        total = 0
        for sign in (1, -1):
            values = [sign * level for level in levels]
            left, right = reach(values, range(len(values))), reach(values, range(len(values) - 1, -1, -1))
            for place, value in enumerate(values):
                total += value * (left[place] * right[place] * (left[place] + right[place]) // 2)
        return total
