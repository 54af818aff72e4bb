class Solution:
    def fewestPiles(self, sizes, gap):
        order = sorted(sizes)
        inner, outer = 0, (len(order) + 1) // 2
        while outer < len(order):
            if order[outer] - order[inner] >= gap:
                inner += 1
            outer += 1
        return len(order) - inner
