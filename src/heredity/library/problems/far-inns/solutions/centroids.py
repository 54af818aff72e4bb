class Solution:
    def farthest(self, roads, inns):
        count = len(roads) + 1
        around = [[] for _ in range(count)]
        for a, b, minutes in roads:
            around[a].append((b, minutes))
            around[b].append((a, minutes))
        # Each hamlet hears of the inns of its part through the part's centre, then the part is cut there.
        gone, answer = bytearray(count), [0] * count
        has = bytearray(count)
        for inn in inns:
            has[inn] = 1
        stack = [0]
        while stack:
            start = stack.pop()
            order, before = [start], {start: -1}
            for at in order:
                for other, _ in around[at]:
                    if other != before[at] and not gone[other]:
                        before[other] = at
                        order.append(other)
            size = dict.fromkeys(order, 1)
            for at in reversed(order[1:]):
                size[before[at]] += size[at]
            centre = next(at for at in reversed(order) if 2 * size[at] >= len(order))
            gone[centre] = 1
            branches = []
            for first, minutes in around[centre]:
                if not gone[first]:
                    part = [(first, centre, minutes)]
                    for at, back, way in part:
                        part += [
                            (other, at, way + more) for other, more in around[at] if other != back and not gone[other]
                        ]
                    branches.append((max((way for at, _, way in part if has[at]), default=-1), part))
                    stack.append(first)
            best = sorted([way for way, _ in branches] + [0 if has[centre] else -1, -1], reverse=True)
            answer[centre] = max(answer[centre], best[0])
            for longest, part in branches:
                way_on = best[1] if longest == best[0] else best[0]
                if way_on >= 0:
                    for at, _, way in part:
                        answer[at] = max(answer[at], way + way_on)
        return answer
