class Solution:
    def selections(self, sacks, low, high):
        def sums(part):
            found = [0]
            for sack in part:
                found += [total + sack for total in found]
            return sorted(found)

        half = len(sacks) // 2
        left, right = sums(sacks[:half]), sums(sacks[half:])
        first = last = len(right)
        count = 0
        for total in left:
            while first and right[first - 1] + total >= low:
                first -= 1
            while last and right[last - 1] + total > high:
                last -= 1
            count += last - first
        return count
