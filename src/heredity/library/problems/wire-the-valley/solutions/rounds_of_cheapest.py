class Solution:
    def price(self, count, wired, offers):
        # Boruvka: every group takes its cheapest offer, ties by number.
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

        for a, b in wired:
            union(a, b)
        total = 0
        for a, b, price in offers:
            if price <= 0:
                union(a, b)
                total += price
        rest = [(price, number, a, b) for number, (a, b, price) in enumerate(offers) if price > 0]
        while True:
            cheapest, still = {}, []
            for offer in rest:
                a, b = find(offer[2]), find(offer[3])
                if a == b:
                    continue
                still.append(offer)
                for group in (a, b):
                    if group not in cheapest or offer < cheapest[group]:
                        cheapest[group] = offer
            if not cheapest:
                break
            for price, _, a, b in cheapest.values():
                if union(a, b):
                    total += price
            rest = still
        return total if all(find(a) == find(0) for a in range(count)) else -1
