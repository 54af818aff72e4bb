class Solution:
    def water(self, walls, drains):
        # The canal between drains, each piece closing in from both ends.
        cuts = [0, *sorted(set(drains)), len(walls) - 1]
        total = 0
        for low, high in zip(cuts, cuts[1:]):
            left, right = walls[low], walls[high]
            while low < high:
                if left <= right:
                    total += left - walls[low]
                    low += 1
                    left = max(left, walls[low])
                else:
                    total += right - walls[high]
                    high -= 1
                    right = max(right, walls[high])
        return total
