class Solution:
    def unlit(self, count, tracks, lamps):
        near = [[] for _ in range(count + 1)]
        for a, b in tracks + [[count, lamp] for lamp in lamps]:
            near[a].append(b)
            near[b].append(a)
        seen, stack = {count}, [count]
        while stack:
            for b in near[stack.pop()]:
                if b not in seen:
                    seen.add(b)
                    stack.append(b)
        return count + 1 - len(seen)
