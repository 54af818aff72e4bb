class Solution {
public:
    long long kindredPairs(vector<long long>& numbers, long long measure) {
        long long found = 0;
        for (size_t i = 0; i < numbers.size(); ++i)
            for (size_t j = 0; j < i; ++j) found += __gcd(numbers[i], numbers[j]) == measure;
        return found;
    }
};
