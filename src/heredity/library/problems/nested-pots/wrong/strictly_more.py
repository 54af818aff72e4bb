class Solution:
    def fewestPiles(self, sizes, gap):
        sizes.sort()
        half = len(sizes) // 2
        inside = 0
        for size in sizes[len(sizes) - half :]:
            inside += sizes[inside] + gap < size
        return len(sizes) - inside
