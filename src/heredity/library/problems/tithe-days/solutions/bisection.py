class Solution:
    def collected(self, coins, days):
        # Tithes are paid from amounts in falling order: all above a threshold, and some that equal it.
        if days == 0:
            return 0

        def paid(low):
            number = total = 0
            for c in coins:
                while c > low and number < days:
                    number += 1
                    tithe = -(-c // 10)
                    total += tithe
                    c -= tithe
                if number >= days:
                    break
            return number, total

        low, high = 0, max(coins)
        while low < high:
            middle = (low + high) // 2
            if paid(middle)[0] < days:
                high = middle
            else:
                low = middle + 1
        number, total = paid(low)
        return total + (days - number) * -(-low // 10) if number < days else total
