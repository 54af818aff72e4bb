from collections import Counter


class Solution:
    def kindredPairs(self, numbers, measure):
        groups = Counter(number // measure for number in numbers if number % measure == 0)
        high = max(groups, default=0)
        least = list(range(high + 1))
        for prime in range(2, int(high**0.5) + 1):
            if least[prime] == prime:
                for multiple in range(prime * prime, high + 1, prime):
                    if least[multiple] == multiple:
                        least[multiple] = prime
        many = Counter()
        sign = {1: 1}
        for number, count in groups.items():
            products = [1]
            while number > 1:
                prime = least[number]
                while number % prime == 0:
                    number //= prime
                products += [product * prime for product in products]
                for product in products[len(products) // 2 :]:
                    sign[product] = -sign[product // prime]
            for product in products:
                many[product] += count
        return sum(sign[product] * count * (count - 1) // 2 for product, count in many.items())
