class Solution:
    def twoGates(self, tolls, purse):
        values = sorted(tolls)
        low, high, pairs = 0, len(values) - 1, set()
        while low < high:
            total = values[low] + values[high]
            if total == purse:
                pairs.add(values[low])
                pairs.add(values[high])
                low += 1
            elif total < purse:
                low += 1
            else:
                high -= 1
        # The first gate with a toll of any fitting pair is the answer's first one.
        for place, toll in enumerate(tolls):
            if toll in pairs:
                return [place, tolls.index(purse - toll, place + 1)]
        return [-1, -1]
