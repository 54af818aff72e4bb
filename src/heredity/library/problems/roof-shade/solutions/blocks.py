class Solution:
    def higher(self, roofs):
        size, count = 150, len(roofs)
        high = [max(roofs[start : start + size]) for start in range(0, count, size)]

        def rightwards(place):
            roof = roofs[place]
            block = place // size
            for other in range(place + 1, min((block + 1) * size, count)):
                if roofs[other] > roof:
                    return other
            for after in range(block + 1, len(high)):
                if high[after] > roof:
                    return next(other for other in range(after * size, count) if roofs[other] > roof)
            return None

        def leftwards(place):
            roof = roofs[place]
            block = place // size
            for other in range(place - 1, block * size - 1, -1):
                if roofs[other] > roof:
                    return other
            for before in range(block - 1, -1, -1):
                if high[before] > roof:
                    return next(other for other in range((before + 1) * size - 1, -1, -1) if roofs[other] > roof)
            return None

        top = max(roofs)
        answer = []
        for place, roof in enumerate(roofs):
            found = [] if roof == top else [one for one in (leftwards(place), rightwards(place)) if one is not None]
            answer.append(min(found, key=lambda one: abs(one - place), default=-1))
        return answer
