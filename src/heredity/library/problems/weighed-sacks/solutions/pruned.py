from bisect import bisect_left, bisect_right


class Solution:
    def selections(self, sacks, low, high):
        sacks.sort(reverse=True)
        half = max(0, len(sacks) - 15)
        right = [0]
        for sack in sacks[half:]:
            right += [total + sack for total in right]
        right.sort()
        after = [sum(sacks[place:]) for place in range(len(sacks) + 1)]

        def count(place, total):
            if total > high or total + after[place] < low:
                return 0
            if low <= total and total + after[place] <= high:
                return 1 << len(sacks) - place
            if place == half:
                return bisect_right(right, high - total) - bisect_left(right, low - total)
            return count(place + 1, total) + count(place + 1, total + sacks[place])

        return count(0, 0)
