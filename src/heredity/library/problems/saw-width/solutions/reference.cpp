class Solution {
public:
    long long longestBoard(vector<long long>& logs, long long saw, long long boards) {
        long long low = 0, high = *max_element(logs.begin(), logs.end());
        while (low < high) {
            long long middle = (low + high + 1) / 2, count = 0;
            for (long long log : logs) count += (log + saw) / (middle + saw);
            if (count >= boards) low = middle;
            else high = middle - 1;
        }
        return low;
    }
};
