class Solution:
    def fewestPiles(self, sizes, gap):
        sizes.sort()
        inside = 0
        for size in sizes:
            inside += sizes[inside] + gap <= size
        return len(sizes) - inside
