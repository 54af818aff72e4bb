class Solution:
    def shortestStride(self, stones, more):
        order = sorted(stones)
        step = 1
        while True:
            added = 0
            for a, b in zip(order, order[1:]):
                while b - a > step:
                    a += step
                    added += 1
            if added <= more:
                return step
            step += 1
