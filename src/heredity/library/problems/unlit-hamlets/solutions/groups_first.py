class Solution:
    def unlit(self, count, tracks, lamps):
        near = [[] for _ in range(count)]
        for a, b in tracks:
            near[a].append(b)
            near[b].append(a)
        group, sizes = [-1] * count, []
        for start in range(count):
            if group[start] < 0:
                group[start] = len(sizes)
                stack, size = [start], 0
                while stack:
                    a = stack.pop()
                    size += 1
                    for b in near[a]:
                        if group[b] < 0:
                            group[b] = len(sizes)
                            stack.append(b)
                sizes.append(size)
        for lamp in lamps:
            sizes[group[lamp]] = 0
        return sum(sizes)
