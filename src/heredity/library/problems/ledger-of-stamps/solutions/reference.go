import "container/list"

type row struct {
	stamp string
	price int
}

type StampLedger struct {
	room   int
	rows   *list.List
	places map[string]*list.Element
	lost   []string
}

func Constructor(room int) StampLedger {
	return StampLedger{room: room, rows: list.New(), places: map[string]*list.Element{}}
}

func (this *StampLedger) Record(stamp string, price int) {
	if place, ok := this.places[stamp]; ok {
		this.rows.Remove(place)
	} else if this.rows.Len() == this.room {
		first := this.rows.Remove(this.rows.Front()).(row)
		delete(this.places, first.stamp)
		this.lost = append(this.lost, first.stamp)
	}
	this.places[stamp] = this.rows.PushBack(row{stamp, price})
}

func (this *StampLedger) Price(stamp string) int {
	place, ok := this.places[stamp]
	if !ok {
		return -1
	}
	this.rows.MoveToBack(place)
	return place.Value.(row).price
}

func (this *StampLedger) Forgotten() []string {
	lost := this.lost
	this.lost = nil
	return lost
}
