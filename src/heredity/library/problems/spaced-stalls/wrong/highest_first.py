class Solution:
    def takings(self, places, stalls):
        taken, total = set(), 0
        for place in sorted(range(len(places)), key=lambda one: -places[one]):
            if stalls and not taken & {place - 1, place + 1}:
                taken.add(place)
                total += places[place]
                stalls -= 1
        return total
