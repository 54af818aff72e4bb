class Solution:
    def leastTrouble(self, crates, ideal):
        sums, best = [0], [0]
        for crate in crates:
            weight = sums[-1] + crate
            found = 1 << 80
            for start, before in zip(sums, best):
                one = before + (weight - start - ideal) ** 2
                if one < found:
                    found = one
            sums.append(weight)
            best.append(found)
        return best[-1]
