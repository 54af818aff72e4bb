class Solution {
public:
    vector<long long> leaving(vector<long long>& buckets) {
        vector<long long> order(buckets.size());
        iota(order.begin(), order.end(), 0);
        auto more = [&](long long a, long long b) { return buckets[a] < buckets[b]; };
        make_heap(order.begin(), order.end(), more);
        sort_heap(order.begin(), order.end(), more);
        return order;
    }
};
