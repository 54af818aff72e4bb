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

        groups = count - sum(union(a, b) for a, b in wired)
        total = 0
        for a, b, price in sorted(offers, key=lambda offer: offer[2]):
            if union(a, b):
                groups, total = groups - 1, total + price
        return total if groups == 1 else -1
