from collections import deque


class Solution:
    def fewestCarts(self, weights, load, feuds):
        count = len(weights)
        whole = (1 << count) - 1
        hated = [0] * count
        for i, j in feuds:
            hated[i] |= 1 << j
            hated[j] |= 1 << i

        def groups(left):
            first = (left & -left).bit_length() - 1
            stack = [(1 << first, load - weights[first], hated[first], first + 1)]
            while stack:
                group, room, banned, start = stack.pop()
                yield group
                for i in range(start, count):
                    if left >> i & 1 and weights[i] <= room and not banned >> i & 1:
                        stack.append((group | 1 << i, room - weights[i], banned | hated[i], i + 1))

        queue, depth = deque([whole]), {whole: 0}
        while queue:
            left = queue.popleft()
            if not left:
                return depth[0]
            for group in groups(left):
                if left ^ group not in depth:
                    depth[left ^ group] = depth[left] + 1
                    queue.append(left ^ group)
        return count
