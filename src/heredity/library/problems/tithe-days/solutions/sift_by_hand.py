class Solution:
    def collected(self, coins, days):
        heap, total = sorted(coins, reverse=True), 0
        count = len(heap)
        for _ in range(days):
            value = heap[0] * 9 // 10
            total += heap[0] - value
            at, child = 0, 1
            while child < count:
                if child + 1 < count and heap[child + 1] > heap[child]:
                    child += 1
                if heap[child] <= value:
                    break
                heap[at], at = heap[child], child
                child = 2 * at + 1
            heap[at] = value
        return total
