class Solution:
    def longest(self, heights, leap):
        width, rocks = len(heights[0]), sum(heights, [])
        count = len(rocks)
        lower = [0] * count
        upward = [[] for _ in rocks]

        def compared(a, b):
            rise = rocks[b] - rocks[a]
            if 0 < rise <= leap:
                upward[a].append(b)
                lower[b] += 1
            elif 0 < -rise <= leap:
                upward[b].append(a)
                lower[a] += 1

        for rock in range(count):
            if (rock + 1) % width:
                compared(rock, rock + 1)
            if rock + width < count:
                compared(rock, rock + width)
        level = [rock for rock in range(count) if not lower[rock]]
        rounds = 0
        while level:
            rounds += 1
            following = []
            for rock in level:
                for other in upward[rock]:
                    lower[other] -= 1
                    if not lower[other]:
                        following.append(other)
            level = following
        return rounds
