class Solution:
    def arrival(self, days, length):
        sun = days[:length].count("S")
        rain = days[:length].count("R")
        best, arrival = (sun, -rain), 0
        for day, letter in enumerate(days[length:]):
            gone = days[day]
            if letter != gone:
                sun += (letter == "S") - (gone == "S")
                rain += (letter == "R") - (gone == "R")
                if (sun, -rain) > best:
                    best, arrival = (sun, -rain), day + 1
        return arrival
