class Solution:
    def twoGates(self, tolls, purse):
        have = set(tolls)
        partners = [place for place, toll in enumerate(tolls) if purse - toll in have]
        if not partners:
            return [-1, -1]
        # The first gate whose partner exists has it further on, unless it is its own partner only.
        for place in partners:
            for other in partners:
                if other > place and tolls[place] + tolls[other] == purse:
                    return [place, other]
            if 2 * tolls[place] != purse:
                break
        later = [place for place in partners if 2 * tolls[place] != purse]
        for place in later[:1]:
            for other in later:
                if other > place and tolls[place] + tolls[other] == purse:
                    return [place, other]
        return [-1, -1]
