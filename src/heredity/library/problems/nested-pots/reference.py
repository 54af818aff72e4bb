class Solution:
    def fewestPiles(self, sizes, gap):
        sizes.sort()
        half = len(sizes) // 2
        inside = 0
        for size in sizes[len(sizes) - half :]:
            if inside < half and sizes[inside] + gap <= size:
                inside += 1
        return len(sizes) - inside
