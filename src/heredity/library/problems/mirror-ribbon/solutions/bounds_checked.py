class Solution:
    def mirrored(self, ribbon, least):
        text = "#" + "#".join(ribbon) + "#"
        reach, centre, edge = [0] * len(text), 0, 0
        for place in range(len(text)):
            arm = min(edge - place, reach[2 * centre - place]) if place < edge else 0
            while (
                place - arm - 1 >= 0 and place + arm + 1 < len(text) and text[place - arm - 1] == text[place + arm + 1]
            ):
                arm += 1
            reach[place] = arm
            if place + arm > edge:
                centre, edge = place, place + arm
        return sum((arm - least) // 2 + 1 for arm in reach if arm >= least)
