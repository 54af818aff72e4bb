class Solution:
    def farthest(self, roads, inns):
        count = len(roads) + 1
        around = [[] for _ in range(count)]
        for a, b, minutes in roads:
            around[a].append((b, minutes))
            around[b].append((a, minutes))
        answer = [0] * count
        for inn in set(inns):
            far, stack = [-1] * count, [inn]
            far[inn] = 0
            while stack:
                at = stack.pop()
                for other, minutes in around[at]:
                    if far[other] < 0:
                        far[other] = far[at] + minutes
                        stack.append(other)
            answer = list(map(max, answer, far))
        return answer
