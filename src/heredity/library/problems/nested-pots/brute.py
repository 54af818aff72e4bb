class Solution:
    def fewestPiles(self, sizes, gap):
        def most(left):
            if not left:
                return 0
            first, rest = left[0], left[1:]
            best = most(rest)
            for place, other in enumerate(rest):
                if abs(other - first) >= gap:
                    best = max(best, 1 + most(rest[:place] + rest[place + 1 :]))
            return best

        return len(sizes) - most(sizes)
