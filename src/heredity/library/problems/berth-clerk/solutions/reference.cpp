class BerthClerk {
    long long count, fresh = 1;
    priority_queue<long long, vector<long long>, greater<>> freed;
    unordered_map<string, long long> berths;

public:
    BerthClerk(long long count) : count(count) {}

    long long arrive(string ship) {
        auto found = berths.find(ship);
        if (found != berths.end()) return found->second;
        long long berth = -1;
        if (!freed.empty()) {
            berth = freed.top();
            freed.pop();
        } else if (fresh <= count) {
            berth = fresh++;
        }
        if (berth > 0) berths[ship] = berth;
        return berth;
    }

    long long leave(string ship) {
        auto found = berths.find(ship);
        if (found == berths.end()) return -1;
        long long berth = found->second;
        berths.erase(found);
        freed.push(berth);
        return berth;
    }
};
