class Solution:
    def ledger(self, levels):
        def tops(sign):
            stack, total = [-1], 0
            values = [sign * level for level in levels] + [float("inf")]
            for place, value in enumerate(values):
                while len(stack) > 1 and values[stack[-1]] <= value:
                    top = stack.pop()
                    total += values[top] * (top - stack[-1]) * (place - top)
                stack.append(place)
            return total

        return tops(1) + tops(-1)
