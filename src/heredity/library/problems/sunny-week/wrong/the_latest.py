class Solution:
    def arrival(self, days, length):
        stays = []
        sun = rain = 0
        for day, letter in enumerate(days):
            sun += letter == "S"
            rain += letter == "R"
            if day >= length:
                sun -= days[day - length] == "S"
                rain -= days[day - length] == "R"
            if day >= length - 1:
                stays.append((sun, -rain, day - length + 1))
        return max(stays)[2]
