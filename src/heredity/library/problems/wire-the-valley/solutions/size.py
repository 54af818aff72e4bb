from operator import itemgetter


class Solution:
    def price(self, count, wired, offers):
        above = [-1] * count

        def find(x):
            while above[x] >= 0:
                x = above[x]
            return x

        def union(a, b):
            a, b = find(a), find(b)
            if a == b:
                return False
            if above[a] > above[b]:
                a, b = b, a
            above[a] += above[b]
            above[b] = a
            return True

        for a, b in wired:
            union(a, b)
        total = 0
        for a, b, price in sorted(offers, key=itemgetter(2)):
            if union(a, b) or price < 0:
                total += price
        return total if len({find(a) for a in range(count)}) == 1 else -1
