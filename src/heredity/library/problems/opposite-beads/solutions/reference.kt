class Solution {
    fun remaining(beads: ListNode?): ListNode? {
        val kept = ArrayList<Long>()
        var bead = beads
        while (bead != null) {
            if (kept.isNotEmpty() && kept.last() == -bead.`val`) kept.removeAt(kept.size - 1) else kept.add(bead.`val`)
            bead = bead.next
        }
        var first: ListNode? = null
        for (value in kept.asReversed()) {
            val node = ListNode(value)
            node.next = first
            first = node
        }
        return first
    }
}
