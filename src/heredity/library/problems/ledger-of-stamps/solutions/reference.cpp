class StampLedger {
    size_t room;
    list<pair<string, long long>> rows;
    unordered_map<string, list<pair<string, long long>>::iterator> places;
    vector<string> lost;

public:
    StampLedger(long long room) : room(room) {}

    void record(string stamp, long long price) {
        auto found = places.find(stamp);
        if (found != places.end()) {
            rows.erase(found->second);
        } else if (rows.size() == room) {
            lost.push_back(rows.front().first);
            places.erase(rows.front().first);
            rows.pop_front();
        }
        rows.push_back({stamp, price});
        places[stamp] = prev(rows.end());
    }

    long long price(string stamp) {
        auto found = places.find(stamp);
        if (found == places.end()) return -1;
        rows.splice(rows.end(), rows, found->second);
        return found->second->second;
    }

    vector<string> forgotten() { return exchange(lost, {}); }
};
