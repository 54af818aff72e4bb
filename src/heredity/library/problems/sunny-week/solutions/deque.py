from collections import deque


class Solution:
    def arrival(self, days, length):
        stay, count = deque(), {"S": 0, "C": 0, "R": 0}
        best, arrival = (-1, 0), 0
        for day, letter in enumerate(days):
            stay.append(letter)
            count[letter] += 1
            if len(stay) > length:
                count[stay.popleft()] -= 1
            if len(stay) == length and (count["S"], -count["R"]) > best:
                best, arrival = (count["S"], -count["R"]), day - length + 1
        return arrival
