class Solution:
    def withView(self, houses, clear):
        seen, needed = [], 0
        for place, house in reversed(list(enumerate(houses))):
            if house >= needed:
                seen.insert(0, place)
            needed = max(needed, house + clear)
        return seen
