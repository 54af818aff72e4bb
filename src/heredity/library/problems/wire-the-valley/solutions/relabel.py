from operator import itemgetter


class Solution:
    def price(self, count, wired, offers):
        group = list(range(count))
        members = [[i] for i in range(count)]

        def find(x):
            return group[x]

        def union(a, b):
            a, b = group[a], group[b]
            if a == b:
                return False
            if len(members[a]) < len(members[b]):
                a, b = b, a
            for x in members[b]:
                group[x] = a
            members[a] += members[b]
            members[b] = []
            return True

        for a, b in wired:
            union(a, b)
        total = 0
        for a, b, price in sorted(offers, key=itemgetter(2)):
            if union(a, b) or price < 0:
                total += price
        return total if len({find(a) for a in range(count)}) == 1 else -1
