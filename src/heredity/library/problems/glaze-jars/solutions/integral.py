from math import exp


class Solution:
    def expectedJars(self, chances):
        end = 32 / min(chances)
        steps = 20_000
        width = end / steps

        def still_open(time):
            done = 1.0
            for chance in chances:
                done *= 1 - exp(-chance * time)
            return 1 - done

        total = still_open(0) + still_open(end)
        for step in range(1, steps):
            total += (4 if step % 2 else 2) * still_open(step * width)
        return total * width / 3
