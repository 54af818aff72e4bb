class Solution {
public:
    long long shortestStride(vector<long long>& stones, long long more) {
        sort(stones.begin(), stones.end());
        long long low = 1, high = stones.back() - stones[0];
        while (low < high) {
            long long middle = (low + high) / 2;
            int count = 0;
            for (size_t i = 1; i < stones.size(); ++i) count = int(unsigned(count) + unsigned((stones[i] - stones[i - 1] - 1) / middle));
            if (count <= more) high = middle;
            else low = middle + 1;
        }
        return low;
    }
};
