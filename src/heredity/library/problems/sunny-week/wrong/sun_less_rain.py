class Solution:
    def arrival(self, days, length):
        value = {"S": 1, "C": 0, "R": -1}
        now = best = sum(value[letter] for letter in days[:length])
        arrival = 0
        for day in range(length, len(days)):
            now += value[days[day]] - value[days[day - length]]
            if now > best:
                best, arrival = now, day - length + 1
        return arrival
