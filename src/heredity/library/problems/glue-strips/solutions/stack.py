class Solution:
    def leastGlue(self, widths):
        count = len(widths)
        sums = [0]
        for width in widths:
            sums.append(sums[-1] + width)
        known = {(i, i + 1): 0 for i in range(count)}
        stack = [(0, count)]
        while stack:
            start, end = stack[-1]
            if (start, end) in known:
                stack.pop()
                continue
            parts = [part for cut in range(start + 1, end) for part in ((start, cut), (cut, end)) if part not in known]
            if parts:
                stack += parts
                continue
            known[start, end] = min(
                known[start, cut] + known[cut, end] + max(sums[cut] - sums[start], sums[end] - sums[cut])
                for cut in range(start + 1, end)
            )
        return known[0, count]
