class Solution:
    def ledger(self, levels):
        def tops(values):
            # The cost of all spans with one end follows from that of the last higher day.
            stack, ending, sums, total = [], [], [], 0
            for place, value in enumerate(values):
                while stack and values[stack[-1]] <= value:
                    stack.pop()
                last = stack[-1] if stack else -1
                reach = place - last
                # Per start the highest level so far, and times the length.
                one = value * reach + (sums[last] if stack else 0)
                own = value * (reach * (reach + 1) // 2) + (ending[last] + reach * sums[last] if stack else 0)
                sums.append(one)
                ending.append(own)
                total += own
                stack.append(place)
            return total

        return tops(levels) + tops([-level for level in levels])
