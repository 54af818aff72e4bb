class Solution:
    def loudest(self, calls):
        number = {}
        codes = [number.setdefault(call, len(number)) for call in calls]
        times = [0] * len(number)
        most = best = 0
        for code in codes:
            times[code] += 1
            if times[code] > most:
                most, best = times[code], code
        return list(number)[best]
