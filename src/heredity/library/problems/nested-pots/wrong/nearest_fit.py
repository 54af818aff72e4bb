class Solution:
    def fewestPiles(self, sizes, gap):
        sizes.sort()
        used = [False] * len(sizes)
        outer = 0
        for place, size in enumerate(sizes):
            if used[place]:
                continue
            outer = max(outer, place + 1)
            while outer < len(sizes) and (used[outer] or sizes[outer] < size + gap):
                outer += 1
            if outer < len(sizes):
                used[place] = used[outer] = True
                outer += 1
        return len(sizes) - sum(used) // 2
