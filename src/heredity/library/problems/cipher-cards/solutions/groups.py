class Solution:
    def firstClash(self, plain, coded):
        def clash(keys, values):
            groups = {}
            for card, key in enumerate(keys):
                groups.setdefault(key, []).append(card)
            first = len(keys)
            for cards in groups.values():
                for card in cards:
                    if values[card] != values[cards[0]]:
                        first = min(first, card)
                        break
            return first

        first = min(clash(plain, coded), clash(coded, plain))
        return first if first < len(plain) else -1
