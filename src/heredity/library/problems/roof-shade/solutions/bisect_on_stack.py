from bisect import bisect_left


class Solution:
    def higher(self, roofs):
        def to_the_left(row):
            # Negative heights of the stack rise, so the last higher roof is found by halving.
            heights, places, found = [], [], []
            for place, roof in enumerate(row):
                at = bisect_left(heights, -roof)
                found.append(places[at - 1] if at else None)
                del heights[at:], places[at:]
                heights.append(-roof)
                places.append(place)
            return found

        last = len(roofs) - 1
        left = to_the_left(roofs)
        right = [None if place is None else last - place for place in reversed(to_the_left(roofs[::-1]))]
        answer = []
        for place, pair in enumerate(zip(left, right)):
            answer.append(min((one for one in pair if one is not None), key=lambda one: abs(one - place), default=-1))
        return answer
