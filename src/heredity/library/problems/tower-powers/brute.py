class Solution:
    def towerRest(self, floors, modulus):
        def rest(place, m):
            """Follow the powers of a floor until they repeat."""
            if m == 1:
                return 0
            if place == len(floors) - 1:
                return floors[place] % m
            seen, power = {}, 1
            while power not in seen:
                seen[power] = len(seen)
                power = power * floors[place] % m
            start = seen[power]
            length = len(seen) - start
            # The exponent, if it is small, or one of the same remainder on the circle.
            exact = floors[-1]
            for floor in reversed(floors[place + 1 : -1]):
                exact = floor**exact if floor == 1 or exact <= 12 else 10**30
                exact = min(exact, 10**30)
            if exact < start + length:
                exponent = exact
            else:
                exponent = rest(place + 1, length)
                while exponent < start:
                    exponent += length
            return pow(floors[place], exponent, m)

        return rest(0, modulus)
