class Solution:
    def towerRest(self, floors, modulus):
        def rest(place, m):
            if m == 1:
                return 0
            if place == len(floors) - 1:
                return floors[place] % m
            # Step along the powers until they repeat, without keeping them.
            slow = fast = 1
            while True:
                slow = slow * floors[place] % m
                fast = fast * floors[place] % m * floors[place] % m
                if slow == fast:
                    break
            length, power = 1, slow * floors[place] % m
            while power != slow:
                power = power * floors[place] % m
                length += 1
            exact = floors[-1]
            for floor in reversed(floors[place + 1 : -1]):
                exact = 1 if floor == 1 else min(floor**exact, 10**30) if exact < 40 else 10**30
            if exact < 40:
                return pow(floors[place], exact, m)
            return pow(floors[place], rest(place + 1, length) + length * 40, m)

        return rest(0, modulus)
