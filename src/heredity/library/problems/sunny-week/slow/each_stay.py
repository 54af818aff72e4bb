class Solution:
    def arrival(self, days, length):
        best, arrival = (-1, 0), 0
        for day in range(len(days) - length + 1):
            sun = rain = 0
            for letter in days[day : day + length]:
                if letter == "S":
                    sun += 1
                elif letter == "R":
                    rain += 1
            if (sun, -rain) > best:
                best, arrival = (sun, -rain), day
        return arrival
