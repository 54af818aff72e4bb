import heapq


class Solution:
    def fewestPiles(self, sizes, gap):
        heapq.heapify(sizes)
        count = len(sizes)
        inner = [heapq.heappop(sizes) for _ in range(count // 2)][::-1]
        if count % 2:
            heapq.heappop(sizes)
        while sizes:
            if inner and inner[-1] + gap <= heapq.heappop(sizes):
                inner.pop()
                count -= 1
        return count
