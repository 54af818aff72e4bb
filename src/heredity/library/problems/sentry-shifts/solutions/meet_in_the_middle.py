class Solution:
    def leastCost(self, pay, quarrel):
        count = len(pay)
        half = (count + 1) // 2

        def grown(posts, backwards):
            layer = {}
            for i in range(count):
                layer[1 << i, i] = pay[i][posts[0]]
            for post in posts[1:]:
                following = {}
                for (used, last), cost in layer.items():
                    for i in range(count):
                        if not used >> i & 1:
                            total = cost + pay[i][post] + (quarrel[i][last] if backwards else quarrel[last][i])
                            if total < following.get((used | 1 << i, i), 1 << 60):
                                following[used | 1 << i, i] = total
                layer = following
            return layer

        if count == 1:
            return pay[0][0]
        front, back = grown(range(half), False), grown(range(count - 1, half - 1, -1), True)
        ends = {}
        for (used, first), cost in back.items():
            ends.setdefault(used, []).append((first, cost))
        whole = (1 << count) - 1
        return min(
            cost + other + quarrel[last][first]
            for (used, last), cost in front.items()
            for first, other in ends[whole ^ used]
        )
