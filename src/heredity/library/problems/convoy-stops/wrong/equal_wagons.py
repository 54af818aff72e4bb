class Solution:
    def leastTrouble(self, crates, ideal):
        total, best = sum(crates), None
        for wagons in range(1, min(len(crates), 60) + 1):
            share, weight, trouble, left = total / wagons, 0, 0, wagons
            for crate in crates:
                if weight and left > 1 and weight + crate / 2 > share:
                    trouble, weight, left = trouble + (weight - ideal) ** 2, 0, left - 1
                weight += crate
            trouble += (weight - ideal) ** 2
            best = trouble if best is None else min(best, trouble)
        return best
