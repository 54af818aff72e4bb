class Solution:
    def leftover(self, sold, place):
        number = 0
        while place:
            number += 1
            if number not in sold:
                place -= 1
        return number
