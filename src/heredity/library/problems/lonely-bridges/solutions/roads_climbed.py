class Solution:
    def halving(self, count, roads, least):
        around = [[] for _ in range(count)]
        for number, (a, b) in enumerate(roads):
            around[a].append((b, number))
            around[b].append((a, number))
        up, came, order, seen = [0] * count, [-1] * count, [0], {0}
        for one in order:
            for other, number in around[one]:
                if other not in seen:
                    seen.add(other)
                    up[other], came[other] = one, number
                    order.append(other)
        used = set(came)
        # Whoever is joined by a road besides the tree climbs to where both ways meet; what was climbed is skipped later.
        depth = [0] * count
        for one in order[1:]:
            depth[one] = depth[up[one]] + 1
        head = list(range(count))

        def find(x):
            while head[x] != x:
                head[x] = x = head[head[x]]
            return x

        for number, (a, b) in enumerate(roads):
            if number in used:
                continue
            a, b = find(a), find(b)
            while a != b:
                if depth[a] < depth[b]:
                    a, b = b, a
                head[a] = up[a]
                a = find(a)
        size = [1] * count
        for one in reversed(order[1:]):
            size[up[one]] += size[one]
        return sorted(came[one] for one in order[1:] if head[one] == one and least <= size[one] <= count - least)
