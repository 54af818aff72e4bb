class Solution:
    def fewestPiles(self, sizes, gap):
        sizes.sort(reverse=True)
        half = len(sizes) // 2
        outer, piles = 0, len(sizes)
        for size in sizes[len(sizes) - half :]:
            if outer < half and sizes[outer] - size >= gap:
                outer += 1
                piles -= 1
        return piles
