class Solution:
    def withView(self, houses, clear):
        # From the highest house down: what matters is the last place of a house that is too high.
        order = sorted(range(len(houses)), key=lambda place: -houses[place])
        seen, ahead, last = [], 0, -1
        places = sorted(range(len(houses)), key=lambda place: -houses[place])
        for place in order:
            while ahead < len(places) and houses[places[ahead]] > houses[place] - clear:
                last = max(last, places[ahead])
                ahead += 1
            if last <= place:
                seen.append(place)
        return sorted(seen)
