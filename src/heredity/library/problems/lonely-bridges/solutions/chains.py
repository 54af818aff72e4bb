class Solution:
    def halving(self, count, roads, least):
        around = [[] for _ in range(count)]
        for number, (a, b) in enumerate(roads):
            around[a].append((b, number))
            around[b].append((a, number))
        place, up, came, order, stack = [-1] * count, [0] * count, [-1] * count, [], [(0, 0, -1)]
        while stack:
            one, above, number = stack.pop()
            if place[one] < 0:
                place[one], up[one], came[one] = len(order), above, number
                order.append(one)
                stack += [(other, one, road) for other, road in around[one] if place[other] < 0]
        # From each road that leads back up, from the top: a chain down to it and along the tree to what was seen.
        in_chain, seen = [False] * count, [False] * count
        tree = set(came)
        back = [[] for _ in range(count)]
        for number, (a, b) in enumerate(roads):
            if number not in tree:
                a, b = (a, b) if place[a] <= place[b] else (b, a)
                back[a].append(b)
        for one in order:
            for other in back[one]:
                seen[one] = True
                while not seen[other]:
                    seen[other] = in_chain[other] = True
                    other = up[other]
        size = [1] * count
        for one in reversed(order[1:]):
            size[up[one]] += size[one]
        return sorted(came[one] for one in order[1:] if not in_chain[one] and least <= size[one] <= count - least)
