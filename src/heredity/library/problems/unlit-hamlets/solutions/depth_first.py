class Solution:
    def unlit(self, count, tracks, lamps):
        near = [[] for _ in range(count)]
        for a, b in tracks:
            near[a].append(b)
            near[b].append(a)
        seen = bytearray(count)

        def visit(a):
            seen[a] = 1
            for b in near[a]:
                if not seen[b]:
                    visit(b)

        for lamp in lamps:
            if not seen[lamp]:
                visit(lamp)
        return count - sum(seen)
