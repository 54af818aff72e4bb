class Solution:
    def firstFault(self, walk):
        closer = {"(": ")", "[": "]", "{": "}", "*": "*"}
        count = len(walk)

        def inside(place, awaited):
            # Walks on to where awaited is shut; returns the place behind, and the place of a fault.
            while place < count:
                letter = walk[place]
                if letter == awaited:
                    return place + 1, None
                if letter in ")]}":
                    return place, place
                place, fault = inside(place + 1, closer[letter])
                if fault is not None:
                    return place, fault
            return place, count if awaited else None

        fault = inside(0, "")[1]
        return -1 if fault is None else fault
