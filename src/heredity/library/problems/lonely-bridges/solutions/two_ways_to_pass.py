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
        # Each road besides the tree adds one at both of its ends and takes two off where the ways up from them meet.
        depth, jumps = [0] * count, [[0] * count]
        for one in order[1:]:
            depth[one] = depth[up[one]] + 1
            jumps[0][one] = up[one]
        while 1 << len(jumps) < count:
            last = jumps[-1]
            jumps.append([last[one] for one in last])
        passed, size = [0] * count, [1] * count
        for number, (a, b) in enumerate(roads):
            if number in used:
                continue
            passed[a] += 1
            passed[b] += 1
            if depth[a] < depth[b]:
                a, b = b, a
            for level, row in enumerate(jumps):
                if depth[a] - depth[b] >> level & 1:
                    a = row[a]
            if a != b:
                for row in reversed(jumps):
                    if row[a] != row[b]:
                        a, b = row[a], row[b]
                a = up[a]
            passed[a] -= 2
        for one in reversed(order[1:]):
            passed[up[one]] += passed[one]
            size[up[one]] += size[one]
        return sorted(came[one] for one in order[1:] if passed[one] == 0 and least <= size[one] <= count - least)
