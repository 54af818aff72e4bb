class Solution:
    def selections(self, sacks, low, high):
        def sums(part):
            found = [0]
            for sack in part:
                merged, i = [], 0
                for total in found:
                    while found[i] + sack < total:
                        merged.append(found[i] + sack)
                        i += 1
                    merged.append(total)
                merged += [total + sack for total in found[i:]]
                found = merged
            return found

        half = len(sacks) // 2
        left, right = sums(sacks[:half]), sums(sacks[half:])
        first = last = len(right)
        count = 0
        for total in left:
            while first and right[first - 1] >= low - total:
                first -= 1
            while last and right[last - 1] > high - total:
                last -= 1
            count += last - first
        return count
