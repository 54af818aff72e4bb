class Solution:
    def halving(self, count, roads, least):
        # Circles are drawn together into one village; then a forest's leaves are cut off one by one.
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
        head, weight = list(range(count)), [1] * count
        depth = [0] * count
        for one in order[1:]:
            depth[one] = depth[up[one]] + 1

        def find(x):
            while head[x] != x:
                head[x] = x = head[head[x]]
            return x

        for number, (a, b) in enumerate(roads):
            if number not in used:
                a, b = find(a), find(b)
                while a != b:
                    if depth[a] < depth[b]:
                        a, b = b, a
                    above = find(up[a])
                    head[a] = above
                    weight[above] += weight[a]
                    a = above
        degree, mixed = [0] * count, [0] * count
        for one in order[1:]:
            if head[one] == one:
                for end in (one, find(up[one])):
                    degree[end] += 1
                    mixed[end] ^= one
        answer = []
        leaves = [one for one in range(count) if degree[one] == 1]
        for leaf in leaves:
            if degree[leaf] != 1:
                continue
            road = mixed[leaf]
            above = find(up[road])
            other = above if leaf == road else road
            degree[leaf] = 0
            degree[other] -= 1
            mixed[other] ^= road
            if least <= weight[leaf] <= count - least:
                answer.append(came[road])
            weight[other] += weight[leaf]
            if degree[other] == 1:
                leaves.append(other)
        return sorted(answer)
