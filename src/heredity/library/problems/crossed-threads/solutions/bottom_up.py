class Solution:
    def crossings(self, pegs, reach):
        runs, total = [[peg] for peg in pegs], 0
        while len(runs) > 1:
            merged = []
            for i in range(0, len(runs) - 1, 2):
                left, right = runs[i], runs[i + 1]
                place, size = 0, len(right)
                for peg in left:
                    while place < size and right[place] + reach <= peg:
                        place += 1
                    total += place
                left += right
                left.sort()
                merged.append(left)
            if len(runs) % 2:
                merged.append(runs[-1])
            runs = merged
        return total
