class Solution:
    def kindredPairs(self, numbers, measure):
        many = sum(number % measure == 0 for number in numbers)
        return many * (many - 1) // 2
