class Solution:
    def arrival(self, days, length):
        codes = days.encode()
        gain = [0] * 256
        gain[83], gain[82] = 1 << 20, -1
        now = sum(gain[code] for code in codes[:length])
        best, arrival, day = now, 0, 0
        for code in codes[length:]:
            now += gain[code] - gain[codes[day]]
            day += 1
            if now > best:
                best, arrival = now, day
        return arrival
