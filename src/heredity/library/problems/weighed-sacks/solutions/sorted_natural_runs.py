class Solution:
    def selections(self, sacks, low, high):
        def sums(part):
            found = [0]
            for sack in part:
                found = sorted(found + [total + sack for total in found])
            return found

        sacks.sort()
        left, right = sums(sacks[::2]), sums(sacks[1::2])
        count, first, last = 0, len(right), len(right)
        for total in left:
            while first > 0 and right[first - 1] + total >= low:
                first -= 1
            while last > 0 and right[last - 1] + total > high:
                last -= 1
            count += last - first
        return count
