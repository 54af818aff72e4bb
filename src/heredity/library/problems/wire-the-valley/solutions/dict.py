from operator import itemgetter


class Solution:
    def price(self, count, wired, offers):
        above = {}

        def find(x):
            trail = []
            while x in above:
                trail.append(x)
                x = above[x]
            for y in trail:
                above[y] = x
            return x

        def union(a, b):
            a, b = find(a), find(b)
            if a != b:
                above[a] = b
            return a != b

        for a, b in wired:
            union(a, b)
        total = 0
        for a, b, price in sorted(offers, key=itemgetter(2)):
            if union(a, b) or price < 0:
                total += price
        return total if len({find(a) for a in range(count)}) == 1 else -1
