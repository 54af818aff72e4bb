class Solution:
    def arrival(self, days, length):
        sun = rain = 0
        stays = []
        for day, letter in enumerate(days):
            sun += letter == "S"
            rain += letter == "R"
            if day >= length:
                sun -= days[day - length] == "S"
                rain -= days[day - length] == "R"
            if day + 1 >= length:
                stays.append((-sun, rain, day + 1 - length))
        return sorted(stays)[0][2]
