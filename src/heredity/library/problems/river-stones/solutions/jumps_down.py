class Solution:
    def shortestStride(self, stones, more):
        stones.sort()
        gaps = list(map(lambda a, b: b - a - 1, stones, stones[1:]))
        step, jump = max(gaps) + 1, 1 << 40
        while jump:
            while step - jump >= 1 and sum(gap // (step - jump) for gap in gaps) <= more:
                step -= jump
            jump >>= 1
        return step
