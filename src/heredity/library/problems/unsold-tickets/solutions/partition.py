class Solution:
    def leftover(self, sold, place):
        def ask(gone, low, place):
            # The tickets from low on; gone holds the sold ones among them.
            while gone:
                pivot = gone[len(gone) // 2]
                below = [number for number in gone if number < pivot]
                unsold = pivot - low - len(below)
                if unsold >= place:
                    gone = below
                else:
                    place -= unsold
                    gone = [number for number in gone if number > pivot]
                    low = pivot + 1
            return low + place - 1

        return ask(list(set(sold)), 1, place)
