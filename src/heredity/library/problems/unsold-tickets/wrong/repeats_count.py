class Solution:
    def leftover(self, sold, place):
        for number in sorted(sold):
            if number > place:
                break
            place += 1
        return place
