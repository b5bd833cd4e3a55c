package transport

// window remembers which of the last 64 packets of a session have come, since
// each is sent on every path.
type window struct {
	session uint64
	highest uint64
	seen    uint64 // bit i: highest-i has come
}

// isNew notes a packet and reports whether it is the first of its number.
// Another session begins anew: the peer's process was started again. Packets of
// an earlier one do not come back, for their connections are of the old process.
func (w *window) isNew(session, seq uint64) bool {
	if session != w.session {
		*w = window{session: session}
	}
	switch {
	case seq > w.highest:
		ahead := seq - w.highest
		if w.seen <<= ahead; ahead >= 64 {
			w.seen = 0
		}
		w.seen |= 1
		w.highest = seq
		return true
	case w.highest-seq >= 64:
		return false // too late to tell
	}
	bit := uint64(1) << (w.highest - seq)
	if w.seen&bit != 0 {
		return false
	}
	w.seen |= bit
	return true
}
