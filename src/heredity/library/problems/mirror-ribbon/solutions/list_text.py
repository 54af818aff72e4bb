class Solution:
    def mirrored(self, ribbon, least):
        letters = [""]
        for letter in ribbon:
            letters += [None, letter]
        letters += [None, "."]
        count, total = len(letters), 0
        reach, centre, edge = [0] * count, 0, 0
        for place in range(1, count - 1):
            arm = max(0, min(edge - place, reach[2 * centre - place])) if place < edge else 0
            while letters[place - arm - 1] == letters[place + arm + 1]:
                arm += 1
            reach[place] = arm
            if place + arm > edge:
                centre, edge = place, place + arm
            if arm >= least:
                total += (arm - least) // 2 + 1
        return total
