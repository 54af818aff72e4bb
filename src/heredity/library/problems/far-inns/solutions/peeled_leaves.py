class Solution:
    def farthest(self, roads, inns):
        # Nodes hold their degree and the sum of the roads' numbers, so there are no lists of neighbours.
        count = len(roads) + 1
        degree, mixed = [0] * count, [0] * count
        for number, (a, b, _) in enumerate(roads):
            degree[a] += 1
            degree[b] += 1
            mixed[a] ^= number
            mixed[b] ^= number
        best, steps = [(-(10**18), -(10**18))] * count, []
        for inn in inns:
            best[inn] = (0, 0)

        def improve(at, way):
            first, second = best[at]
            if way > first:
                best[at] = way, first
            elif way > second:
                best[at] = first, way

        leaves = [at for at in range(count) if degree[at] == 1]
        for at in leaves:
            if degree[at] != 1:
                continue
            number = mixed[at]
            a, b, minutes = roads[number]
            other = a + b - at
            degree[at] = 0
            degree[other] -= 1
            mixed[other] ^= number
            steps.append((at, other, minutes))
            improve(other, best[at][0] + minutes)
            if degree[other] == 1:
                leaves.append(other)
        for at, other, minutes in reversed(steps):
            first, second = best[other]
            improve(at, (second if first == best[at][0] + minutes else first) + minutes)
        return [first for first, _ in best]
