class Solution {
public:
    ListNode* restrung(ListNode* beads, long long step) {
        ListNode first, *last = &first, *heap = nullptr;
        long long place = 0;
        for (ListNode *bead = beads, *after; bead; bead = after) {
            after = bead->next;
            if (++place % step == 0) {
                bead->next = heap;
                heap = bead;
            } else {
                last = last->next = bead;
            }
        }
        if (place % step != 0) last->next = heap;
        return first.next;
    }
};
