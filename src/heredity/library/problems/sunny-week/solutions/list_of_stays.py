class Solution:
    def arrival(self, days, length):
        sun = [days[:length].count("S")]
        rain = [days[:length].count("R")]
        for gone, come in zip(days, days[length:]):
            sun.append(sun[-1] + (come == "S") - (gone == "S"))
            rain.append(rain[-1] + (come == "R") - (gone == "R"))
        most = max(sun)
        sunny = [day for day, count in enumerate(sun) if count == most]
        return min(sunny, key=rain.__getitem__)
