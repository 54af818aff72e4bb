class Solution:
    def reachable(self, count, causeways, events):
        # Joined in the order of how late they sink; no path is shortened, so each tie keeps its time.
        when = [len(events)] * len(causeways)
        for time in range(len(events) - 1, -1, -1):
            if events[time][0] == 0:
                when[events[time][1]] = time
        above, until, size = (
            list(range(count)),
            [len(events) + 1] * count,
            [[(len(events) + 1, 1)] for _ in range(count)],
        )
        for i in sorted(range(len(causeways)), key=lambda i: -when[i]):
            a, b = causeways[i]
            while above[a] != a:
                a = above[a]
            while above[b] != b:
                b = above[b]
            if a != b:
                if size[a][-1][1] < size[b][-1][1]:
                    a, b = b, a
                above[b], until[b] = a, when[i]
                size[a].append((when[i], size[a][-1][1] + size[b][-1][1]))
        answers = []
        for time, (kind, a) in enumerate(events):
            if kind:
                while until[a] > time and above[a] != a:
                    a = above[a]
                low, high = 0, len(size[a])
                while high - low > 1:
                    middle = (low + high) // 2
                    if size[a][middle][0] > time:
                        low = middle
                    else:
                        high = middle
                answers.append(size[a][low][1])
        return answers
