class Solution:
    def leastTrouble(self, crates, ideal):
        count, sums = len(crates), [0]
        for crate in crates:
            sums.append(sums[-1] + crate)
        best = [0] * (count + 1)

        def cost(start, stop):
            return best[start] + (sums[stop] - sums[start] - ideal) ** 2

        def takeover(early, late):
            """The first end for which the later start is no worse."""
            low, high = late, count + 1
            while high - low > 1:
                middle = (low + high) // 2
                if cost(late, middle) <= cost(early, middle):
                    high = middle
                else:
                    low = middle
            return high

        queue, head = [(0, 1)], 0
        for stop in range(1, count + 1):
            while head + 1 < len(queue) and queue[head + 1][1] <= stop:
                head += 1
            best[stop] = cost(queue[head][0], stop)
            while True:
                point = takeover(queue[-1][0], stop)
                if len(queue) - head > 1 and point <= queue[-1][1]:
                    queue.pop()
                else:
                    break
            if point <= count:
                queue.append((stop, point))
        return best[count]
