class Solution:
    def shortest(self, flows, goal):
        sums = [0]
        for flow in flows:
            sums.append(sums[-1] + flow)
        starts, head, best = [], 0, (len(sums), -1)
        for stop, total in enumerate(sums):
            while head < len(starts) and total - sums[starts[head]] >= goal:
                best = min(best, (stop - starts[head], starts[head]))
                head += 1
            while len(starts) > head and sums[starts[-1]] >= total:
                starts.pop()
            starts.append(stop)
        return [best[1], best[0]] if best[1] >= 0 else []
