class Solution:
    def arrival(self, days, length):
        sun = best = days[:length].count("S")
        arrival = 0
        for day in range(length, len(days)):
            sun += (days[day] == "S") - (days[day - length] == "S")
            if sun > best:
                best, arrival = sun, day - length + 1
        return arrival
