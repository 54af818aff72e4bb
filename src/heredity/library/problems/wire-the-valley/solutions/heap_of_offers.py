from heapq import heapify, heappop


class Solution:
    def price(self, count, wired, offers):
        above, rank = list(range(count)), [0] * count

        def find(x):
            root = x
            while above[root] != root:
                root = above[root]
            while above[x] != root:
                above[x], x = root, above[x]
            return root

        def union(a, b):
            a, b = find(a), find(b)
            if a == b:
                return False
            if rank[a] < rank[b]:
                a, b = b, a
            above[b] = a
            rank[a] += rank[a] == rank[b]
            return True

        groups = count - sum(union(a, b) for a, b in wired)
        heap = [(price, a, b) for a, b, price in offers]
        heapify(heap)
        total = 0
        while heap and (groups > 1 or heap[0][0] < 0):
            price, a, b = heappop(heap)
            joins = union(a, b)
            groups -= joins
            total += price if joins or price < 0 else 0
        return total if groups == 1 else -1
