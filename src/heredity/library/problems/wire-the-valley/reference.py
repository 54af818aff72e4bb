class Solution:
    def price(self, count, wired, offers):
        above = list(range(count))

        def find(x):
            while above[x] != x:
                above[x] = above[above[x]]
                x = above[x]
            return x

        def union(a, b):
            a, b = find(a), find(b)
            above[a] = b
            return a != b

        groups = count - sum(union(a, b) for a, b in wired)
        total = 0
        for a, b, price in sorted(offers, key=lambda offer: offer[2]):
            if union(a, b):
                groups -= 1
                total += price
            elif price < 0:
                total += price
        return total if groups == 1 else -1
