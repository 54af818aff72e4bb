class Solution:
    def mirrored(self, ribbon, least):
        text = bytearray(2 * len(ribbon) + 3)
        text[2:-1:2] = ribbon.encode()
        text[0], text[-1] = 1, 2
        reach, centre, edge, total = [0] * len(text), 0, 0, 0
        for place in range(1, len(text) - 1):
            arm = min(edge - place, reach[2 * centre - place]) if place < edge else 0
            while text[place - arm - 1] == text[place + arm + 1]:
                arm += 1
            reach[place] = arm
            if place + arm > edge:
                centre, edge = place, place + arm
            if arm >= least:
                total += (arm - least) // 2 + 1
        return total
