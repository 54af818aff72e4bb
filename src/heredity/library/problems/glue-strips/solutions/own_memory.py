class Solution:
    def leastGlue(self, widths):
        count = len(widths)
        sums = [sum(widths[:place]) for place in range(count + 1)]
        memory = [[-1] * (count + 1) for _ in range(count + 1)]

        def least(start, end):
            if end - start < 2:
                return 0
            if memory[start][end] < 0:
                found = float("inf")
                for cut in range(start + 1, end):
                    wide = max(sums[cut] - sums[start], sums[end] - sums[cut])
                    if wide < found:
                        found = min(found, wide + least(start, cut) + least(cut, end))
                memory[start][end] = found
            return memory[start][end]

        return least(0, count)
