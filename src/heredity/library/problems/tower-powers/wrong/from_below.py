class Solution:
    def towerRest(self, floors, modulus):
        value = floors[0] % modulus
        for floor in floors[1:]:
            value = pow(value, floor, modulus)
        return value
