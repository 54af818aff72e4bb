class Solution {
public:
    long long collected(vector<long long>& coins, long long days) {
        priority_queue<long long> heap(coins.begin(), coins.end());
        long long total = 0;
        while (days-- > 0) {
            long long most = heap.top(), tithe = (most + 9) / 10;
            heap.pop();
            total += tithe;
            heap.push(most - tithe);
        }
        return total;
    }
};
