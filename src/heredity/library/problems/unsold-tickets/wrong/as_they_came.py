class Solution:
    def leftover(self, sold, place):
        for number in set(sold):
            if number <= place:
                place += 1
        return place
