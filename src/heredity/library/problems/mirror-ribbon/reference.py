class Solution:
    def mirrored(self, ribbon, least):
        text = "|" + "|".join(ribbon) + "|"
        reach = [0] * len(text)
        text = "^" + text + "$"
        centre = edge = total = 0
        for place in range(1, len(text) - 1):
            arm = min(edge - place, reach[2 * centre - place - 1]) if place < edge else 0
            while text[place - arm - 1] == text[place + arm + 1]:
                arm += 1
            reach[place - 1] = arm
            if place + arm > edge:
                centre, edge = place, place + arm
            # The longest mirrored piece here, and all that are 2, 4, ... letters shorter.
            if arm >= least:
                total += (arm - least) // 2 + 1
        return total
