class Solution:
    def twoGates(self, tolls, purse):
        size = 1 << (2 * len(tolls)).bit_length()
        keys, last = [None] * size, [0] * size

        def slot(toll):
            place = (toll * 0x9E3779B97F4A7C15 >> 20) & size - 1
            while keys[place] is not None and keys[place] != toll:
                place = place + 1 & size - 1
            return place

        found = [-1, -1]
        for place in range(len(tolls) - 1, -1, -1):
            there = slot(purse - tolls[place])
            if keys[there] is not None:
                found = [place, last[there]]
            there = slot(tolls[place])
            keys[there], last[there] = tolls[place], place
        return found
