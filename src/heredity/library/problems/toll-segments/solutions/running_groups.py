from itertools import accumulate


class Solution:
    def payable(self, tolls, coin, least):
        # Of each rest: its places so far, and how many of them are far enough back.
        groups, answer = {}, 0
        for place, total in enumerate(accumulate(tolls, initial=0)):
            group = groups.setdefault(total % coin, [0])
            while group[0] + 1 < len(group) and group[group[0] + 1] <= place - least:
                group[0] += 1
            answer += group[0]
            group.append(place)
        return answer
