from operator import itemgetter


class Solution:
    def price(self, count, wired, offers):
        above = list(range(count))

        def find(x):
            if above[x] != x:
                above[x] = find(above[x])
            return above[x]

        def union(a, b):
            a, b = find(a), find(b)
            above[b] = a
            return a != b

        for a, b in wired:
            union(a, b)
        total = 0
        for a, b, price in sorted(offers, key=itemgetter(2)):
            if union(a, b) or price < 0:
                total += price
        return total if len({find(a) for a in range(count)}) == 1 else -1
