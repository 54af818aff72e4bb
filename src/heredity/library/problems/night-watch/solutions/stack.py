class Solution:
    def unwatched(self, watches):
        stack = []
        for start, end in sorted(watches, reverse=True):
            while stack and stack[-1][0] <= end:
                end = max(end, stack.pop()[1])
            stack.append((start, end))
        best = []
        while len(stack) > 1:
            end = stack.pop()[1]
            start = stack[-1][0]
            if not best or start - end > best[1] - best[0]:
                best = [end, start]
        return best
