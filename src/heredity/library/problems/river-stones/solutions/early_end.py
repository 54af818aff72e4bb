class Solution:
    def shortestStride(self, stones, more):
        order = sorted(stones)
        gaps = sorted((b - a for a, b in zip(order, order[1:])), reverse=True)

        def enough(step):
            left = more
            for gap in gaps:
                if gap <= step:
                    return True
                left -= (gap - 1) // step
                if left < 0:
                    return False
            return True

        low, high = 0, gaps[0]
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        return high
