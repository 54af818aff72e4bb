import java.util.PriorityQueue

class Solution {
    fun latestArrival(towns: Long, roads: Array<LongArray>, start: Long): Long {
        val leaving = Array(towns.toInt()) { ArrayList<LongArray>() }
        for (road in roads) leaving[road[0].toInt()].add(road)
        val arrived = BooleanArray(towns.toInt())
        val waiting = PriorityQueue<LongArray> { a, b -> a[0].compareTo(b[0]) }
        waiting.add(longArrayOf(0, start))
        var reached = 0L
        var last = 0L
        while (waiting.isNotEmpty()) {
            val (time, place) = waiting.poll()
            val town = place.toInt()
            if (arrived[town]) continue
            arrived[town] = true
            last = time
            reached++
            for (road in leaving[town]) if (!arrived[road[1].toInt()]) waiting.add(longArrayOf(time + road[2], road[1]))
        }
        return if (reached == towns) last else -1
    }
}
