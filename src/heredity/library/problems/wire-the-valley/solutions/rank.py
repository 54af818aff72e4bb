from operator import itemgetter


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

        for a, b in wired:
            union(a, b)
        total = 0
        for a, b, price in sorted(offers, key=itemgetter(2)):
            if union(a, b) or price < 0:
                total += price
        return total if len({find(a) for a in range(count)}) == 1 else -1
