class Solution:
    def leftover(self, sold, place):
        sold.sort()
        last = 0
        for number in sold:
            if number != last:
                if number > place:
                    return place
                place += 1
                last = number
        return place
