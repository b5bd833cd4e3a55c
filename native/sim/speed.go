package sim

import (
	"fmt"

	"fulmen/native"
)

const gigabit int64 = 1_000_000_000

// linkOf returns the link that has this speed. The rates that cables train to
// are 80, 40, 20 and 10 Gb/s each way, and 120 with 40.
func linkOf(speed native.LinkSpeed) (native.Link, error) {
	if speed.UpTo || speed.TxBitsPerS%gigabit != 0 || speed.RxBitsPerS%gigabit != 0 {
		return native.Link{}, untrainable(speed)
	}
	switch [2]int64{speed.TxBitsPerS / gigabit, speed.RxBitsPerS / gigabit} {
	case [2]int64{80, 80}:
		return native.LinkFromLanes(40*gigabit, 2, 2)
	case [2]int64{120, 40}:
		return native.LinkFromLanes(40*gigabit, 3, 1)
	case [2]int64{40, 120}:
		return native.LinkFromLanes(40*gigabit, 1, 3)
	case [2]int64{40, 40}:
		return native.LinkFromLanes(20*gigabit, 2, 2)
	case [2]int64{20, 20}:
		return native.LinkFromLanes(10*gigabit, 2, 2)
	case [2]int64{10, 10}:
		return native.LinkFromLanes(10*gigabit, 1, 1)
	}
	return native.Link{}, untrainable(speed)
}

func untrainable(speed native.LinkSpeed) error {
	return fmt.Errorf("no cable trains to %s (80, 40, 20, 10, 120/40 or 40/120 Gb/s)", speed)
}

// best is the fastest symmetric speed of a version.
func best(version native.ThunderboltVersion) native.LinkSpeed {
	if version == native.TB5 {
		return native.LinkSpeed{TxBitsPerS: 80 * gigabit, RxBitsPerS: 80 * gigabit}
	}
	return native.LinkSpeed{TxBitsPerS: 40 * gigabit, RxBitsPerS: 40 * gigabit}
}

// train returns the link that two ends agree on, as each reports it: the speed
// asked for, from a to b, or the best of the lesser end. More than both can is
// an error.
func train(a, b native.ThunderboltVersion, asked native.LinkSpeed) (links [2]native.Link, err error) {
	limit := best(a).Min(best(b))
	if asked == (native.LinkSpeed{}) {
		asked = limit
	}
	// 120/40 takes the same four lanes as 80/80: the sum is the limit.
	if asked.TxBitsPerS+asked.RxBitsPerS > limit.TxBitsPerS+limit.RxBitsPerS {
		return links, fmt.Errorf("%s is more than a cable between %s and %s does", asked, a, b)
	}
	if links[0], err = linkOf(asked); err != nil {
		return links, err
	}
	links[1], err = linkOf(native.LinkSpeed{TxBitsPerS: asked.RxBitsPerS, RxBitsPerS: asked.TxBitsPerS})
	return links, err
}
