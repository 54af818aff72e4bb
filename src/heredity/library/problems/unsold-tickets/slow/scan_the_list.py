class Solution:
    def leftover(self, sold, place):
        gone = []
        for number in sold:
            if number not in gone:
                gone.append(number)
        gone.sort()
        for number in gone:
            if number > place:
                break
            place += 1
        return place
