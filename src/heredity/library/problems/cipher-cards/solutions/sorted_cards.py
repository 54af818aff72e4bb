class Solution:
    def firstClash(self, plain, coded):
        def clash(keys, values):
            order = sorted(range(len(keys)), key=keys.__getitem__)
            first, head = len(keys), None
            for card in order:
                if head is None or keys[card] != keys[head]:
                    head = card
                elif values[card] != values[head]:
                    first = min(first, card)
            return first

        first = min(clash(plain, coded), clash(coded, plain))
        return -1 if first == len(plain) else first
