package cluster

import "math/big"

// set is steps of one history, a bit each by their number.
type set struct{ bits big.Int }

func (s *set) add(e *step) { s.bits.SetBit(&s.bits, e.number, 1) }

func (s *set) has(e *step) bool { return s.bits.Bit(e.number) == 1 }

// join adds all of another set.
func (s *set) join(other *set) { s.bits.Or(&s.bits, &other.bits) }
