class Solution:
    def leftover(self, sold, place):
        place_of = {}
        for number in sold:
            place_of[number] = True
        last = 0
        for number in sorted(place_of):
            between = number - last - 1
            if between >= place:
                return last + place
            place -= between
            last = number
        return last + place
