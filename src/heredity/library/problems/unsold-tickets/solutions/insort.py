from bisect import bisect_left


class Solution:
    def leftover(self, sold, place):
        gone = []
        for number in sold:
            spot = bisect_left(gone, number)
            if spot == len(gone) or gone[spot] != number:
                gone.insert(spot, number)
        for number in gone:
            if number > place:
                break
            place += 1
        return place
