from decimal import Decimal


class Solution:
    def stillLit(self, lamps):
        return int(Decimal(lamps).sqrt()) + int(Decimal(lamps // 2).sqrt())
