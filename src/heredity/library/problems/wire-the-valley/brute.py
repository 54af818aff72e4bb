class Solution:
    def price(self, count, wired, offers):
        # Whatever earns something is taken; then the cheapest offer that joins farms, again and again.
        def reached():
            found = {0}
            for _ in range(count):
                for a, b in edges:
                    if a in found or b in found:
                        found |= {a, b}
            return found

        edges = [*map(tuple, wired), *((a, b) for a, b, price in offers if price <= 0)]
        total = sum(price for _, _, price in offers if price <= 0)
        while len(inside := reached()) < count:
            across = [offer for offer in offers if (offer[0] in inside) != (offer[1] in inside)]
            if not across:
                return -1
            a, b, price = min(across, key=lambda offer: offer[2])
            edges.append((a, b))
            total += price
        return total
