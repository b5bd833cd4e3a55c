package cluster

// set is steps of one history, a bit each by their number.
type set []uint64

func (s *set) add(e *step) {
	for len(*s) <= e.number/64 {
		*s = append(*s, 0)
	}
	(*s)[e.number/64] |= 1 << (e.number % 64)
}

func (s set) has(e *step) bool {
	return e.number/64 < len(s) && s[e.number/64]&(1<<(e.number%64)) != 0
}

// join adds all of another set.
func (s *set) join(other set) {
	for len(*s) < len(other) {
		*s = append(*s, 0)
	}
	for i, bits := range other {
		(*s)[i] |= bits
	}
}
