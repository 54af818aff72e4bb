class Solution:
    def leftover(self, sold, place):
        for number in sorted(set(sold)):
            if number > place:
                break
            place += 1
        return place
