class Solution:
    def farthest(self, roads, inns):
        count = len(roads) + 1
        around = [[] for _ in range(count)]
        for a, b, minutes in roads:
            around[a].append((b, minutes))
            around[b].append((a, minutes))

        def tour(start):
            far, parent, order = [-1] * count, [-1] * count, [start]
            far[start] = 0
            for at in order:
                for other, minutes in around[at]:
                    if far[other] < 0:
                        far[other], parent[other] = far[at] + minutes, at
                        order.append(other)
            return far, parent

        far, _ = tour(inns[0])
        one = max(inns, key=lambda inn: far[inn])
        far, parent = tour(one)
        other = max(inns, key=lambda inn: far[inn])
        # Walk back from the other end to the middle: from there, all turn to the end on the other side.
        whole = far[other]
        at = other
        while at != one and 2 * far[parent[at]] >= whole:
            at = parent[at]
        middle, _ = tour(at)
        reach, near = far[at], whole - far[at]
        # Whoever reaches the middle over the hamlet next to it, towards the first end, goes on to the second.
        side = parent[at]
        answer = [reach + minutes for minutes in middle]
        if side >= 0:
            beyond, stack = {at, side}, [side]
            while stack:
                here = stack.pop()
                answer[here] = max(near + middle[here], abs(far[here]) if here == one else 0)
                for there, _ in around[here]:
                    if there not in beyond:
                        beyond.add(there)
                        stack.append(there)
            # On this side an end may be the farthest, too.
            for here in beyond:
                answer[here] = max(answer[here], far[here])
        return answer
