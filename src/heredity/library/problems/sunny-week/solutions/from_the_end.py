class Solution:
    def arrival(self, days, length):
        last = len(days) - length
        sun = days[last:].count("S")
        rain = days[last:].count("R")
        best, arrival = (sun, -rain), last
        for day in range(last - 1, -1, -1):
            sun += (days[day] == "S") - (days[day + length] == "S")
            rain += (days[day] == "R") - (days[day + length] == "R")
            if (sun, -rain) >= best:
                best, arrival = (sun, -rain), day
        return arrival
