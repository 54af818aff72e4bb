from operator import itemgetter


class Solution:
    def price(self, count, wired, offers):
        team = {i: {i} for i in range(count)}

        def find(x):
            return id(team[x])

        def union(a, b):
            a, b = team[a], team[b]
            if a is b:
                return False
            if len(a) < len(b):
                a, b = b, a
            a |= b
            for x in b:
                team[x] = a
            return True

        for a, b in wired:
            union(a, b)
        total = 0
        for a, b, price in sorted(offers, key=itemgetter(2)):
            if union(a, b) or price < 0:
                total += price
        return total if len({find(a) for a in range(count)}) == 1 else -1
