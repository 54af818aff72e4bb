class Solution:
    def leftover(self, sold, place):
        gone = set(sold)
        number = 0
        while place:
            number += 1
            place -= number not in gone
        return number
