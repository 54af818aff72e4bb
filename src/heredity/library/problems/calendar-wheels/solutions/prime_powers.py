class Solution:
    def nextFeast(self, wheels, start):
        powers = {}
        for teeth, mark in wheels:
            prime = 2
            while teeth > 1:
                if prime * prime > teeth:
                    prime = teeth
                power = 1
                while teeth % prime == 0:
                    teeth //= prime
                    power *= prime
                if power > 1:
                    known, rest = powers.get(prime, (1, 0))
                    if (mark - rest) % min(known, power):
                        return -1
                    if power > known:
                        powers[prime] = (power, mark % power)
                prime += 1 + prime % 2
        day, period = 0, 1
        for power, rest in powers.values():
            day += (rest - day) * pow(period, -1, power) % power * period
            period *= power
        return start + (day - start) % period
