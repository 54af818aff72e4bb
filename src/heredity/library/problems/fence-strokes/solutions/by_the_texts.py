from functools import cache


class Solution:
    def cheapest(self, colours, prices):
        names = {colour: chr(200 + place) for place, colour in enumerate(dict.fromkeys(colours))}
        price = {names[colour]: prices[colour] for colour in names}

        @cache
        def cost(text):
            # Equal pieces of the fence are solved once, wherever they are.
            if not text:
                return 0
            best = price[text[0]] + cost(text[1:])
            place = text.find(text[0], 1)
            while place > 0:
                best = min(best, cost(text[1:place]) + cost(text[place:]))
                place = text.find(text[0], place + 1)
            return best

        text = "".join(names[colour] for i, colour in enumerate(colours) if not i or colour != colours[i - 1])
        for start in range(len(text), -1, -1):
            cost(text[start:])
        return cost(text)
