class Solution:
    def selections(self, sacks, low, high):
        def count(place, total):
            if place == len(sacks):
                return low <= total <= high
            return count(place + 1, total) + count(place + 1, total + sacks[place])

        return int(count(0, 0))
