class Solution:
    def shortestStride(self, stones, more):
        order = sorted(stones)

        def search(low, high):
            if low == high:
                return low
            middle = (low + high) // 2
            count = sum((order[i] - order[i - 1] - 1) // middle for i in range(1, len(order)))
            return search(low, middle) if count <= more else search(middle + 1, high)

        return search(1, order[-1] - order[0])
