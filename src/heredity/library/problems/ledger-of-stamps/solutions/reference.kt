class StampLedger(val room: Long) {
    private val prices = LinkedHashMap<String, Long>(16, 0.75f, true)
    private var lost = ArrayList<String>()

    fun record(stamp: String, price: Long) {
        if (stamp !in prices && prices.size.toLong() == room) {
            val first = prices.keys.first()
            prices.remove(first)
            lost.add(first)
        }
        prices[stamp] = price
    }

    fun price(stamp: String): Long = prices[stamp] ?: -1

    fun forgotten(): Array<String> {
        val told = lost.toTypedArray()
        lost = ArrayList()
        return told
    }
}
