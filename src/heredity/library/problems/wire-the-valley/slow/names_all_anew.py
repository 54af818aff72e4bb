class Solution:
    def price(self, count, wired, offers):
        group = list(range(count))

        def find(x):
            return group[x]

        def union(a, b):
            a, b = group[a], group[b]
            if a == b:
                return False
            for x in range(count):
                if group[x] == b:
                    group[x] = a
            return True

        groups = count - sum(union(a, b) for a, b in wired)
        total = 0
        for a, b, price in sorted(offers, key=lambda offer: offer[2]):
            joins = union(a, b)
            groups -= joins
            total += price if joins or price < 0 else 0
        return total if groups == 1 else -1
