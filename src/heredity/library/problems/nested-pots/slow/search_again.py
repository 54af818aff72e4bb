class Solution:
    def fewestPiles(self, sizes, gap):
        sizes.sort()
        half = len(sizes) // 2
        outer = sizes[len(sizes) - half :]
        used = [False] * half
        inside = 0
        for size in sizes[:half]:
            for place in range(half):
                if not used[place] and size + gap <= outer[place]:
                    used[place] = True
                    inside += 1
                    break
        return len(sizes) - inside
