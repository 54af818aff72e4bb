class StampLedger {
    private final LinkedHashMap<String, Long> prices = new LinkedHashMap<>(16, 0.75f, true);
    private final long room;
    private List<String> lost = new ArrayList<>();

    public StampLedger(long room) {
        this.room = room;
    }

    public void record(String stamp, long price) {
        if (!prices.containsKey(stamp) && prices.size() == room) {
            String first = prices.keySet().iterator().next();
            prices.remove(first);
            lost.add(first);
        }
        prices.put(stamp, price);
    }

    public long price(String stamp) {
        Long found = prices.get(stamp);
        return found == null ? -1 : found;
    }

    public String[] forgotten() {
        String[] told = lost.toArray(new String[0]);
        lost = new ArrayList<>();
        return told;
    }
}
