class Solution:
    def arrival(self, days, length):
        sun = rain = 0
        best, arrival = (0, 0), 0
        for day in range(len(days) - length):
            pair = days[day] + days[day + length]
            if pair[0] == pair[1]:
                continue
            sun += {"S": -1}.get(pair[0], 0) + {"S": 1}.get(pair[1], 0)
            rain += {"R": -1}.get(pair[0], 0) + {"R": 1}.get(pair[1], 0)
            if (sun, -rain) > best:
                best, arrival = (sun, -rain), day + 1
        return arrival
