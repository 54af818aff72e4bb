class Solution:
    def ledger(self, levels):
        def tops(sign):
            stack, total = [-1], 0
            values = [sign * level for level in levels] + [float("inf")]
            for place, value in enumerate(values):
                while len(stack) > 1 and values[stack[-1]] <= value:
                    top = stack.pop()
                    left, right = top - stack[-1], place - top
                    total += sign * levels[top] * (left * right * (left + right) // 2)
                stack.append(place)
            return total

        return tops(1) + tops(-1)
