class Solution {
public:
    vector<long long> leaving(vector<long long>& buckets) {
        vector<long long> order(buckets.size());
        iota(order.begin(), order.end(), 0);
        stable_sort(order.begin(), order.end(), [&](long long a, long long b) { return buckets[a] < buckets[b]; });
        return order;
    }
};
