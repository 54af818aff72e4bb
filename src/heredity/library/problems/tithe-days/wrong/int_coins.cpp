class Solution {
public:
    long long collected(vector<long long>& coins, long long days) {
        priority_queue<int> heap(coins.begin(), coins.end());
        int total = 0;
        while (days-- > 0) {
            int most = heap.top(), tithe = most / 10 + (most % 10 > 0);
            heap.pop();
            total = int(unsigned(total) + unsigned(tithe));
            heap.push(most - tithe);
        }
        return total;
    }
};
