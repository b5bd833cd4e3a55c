package output

import "fulmen/daemon/api"

// Offsets remembers how far each stream was taken, so that output which is sent
// again, after a connection was lost, is written once. The zero value has taken
// nothing.
type Offsets struct {
	next map[source]int64
}

// Take leaves away of a piece what was taken before; fresh says whether anything
// is left.
func (o *Offsets) Take(p api.OutputPiece) (left api.OutputPiece, fresh bool) {
	if p.Notice != nil || p.Complete {
		return p, true // it stands in place of a piece, at no place of a stream
	}
	s := source{p.Attempt, p.Rank, p.Stream}
	if o.next == nil {
		o.next = map[source]int64{}
	}
	next := o.next[s]
	p.SkippedBytes = max(0, min(p.SkippedBytes, p.OffsetBytes-next))
	if before := next - p.OffsetBytes; before > 0 {
		if before >= int64(len(p.Data)) {
			return api.OutputPiece{}, false
		}
		p.Data, p.OffsetBytes = p.Data[before:], next
	}
	o.next[s] = p.OffsetBytes + int64(len(p.Data))
	return p, len(p.Data) > 0 || p.SkippedBytes > 0
}
