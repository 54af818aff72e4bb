class Solution:
    def leastTrouble(self, crates, ideal):
        total = weight = 0
        for crate in crates:
            if weight and abs(weight - ideal) < abs(weight + crate - ideal):
                total, weight = total + (weight - ideal) ** 2, 0
            weight += crate
        return total + (weight - ideal) ** 2
