package scenario

import (
	"fmt"
	"strings"

	"fulmen/native"
)

const gigabit = 1_000_000_000

// BestSpeed is what a cable between two such receptacles negotiates by itself:
// 80 Gb/s each way between two tb5, else 40. The asymmetric 120/40 is chosen by
// displays, never for computers.
func BestSpeed(a, b native.ThunderboltVersion) native.LinkSpeed {
	if a == native.TB5 && b == native.TB5 {
		return native.LinkSpeed{TxBitsPerS: 80 * gigabit, RxBitsPerS: 80 * gigabit}
	}
	return native.LinkSpeed{TxBitsPerS: 40 * gigabit, RxBitsPerS: 40 * gigabit}
}

// speeds are what lanes can be trained to, slowest first: one or two lanes of
// 10 or 20 Gb/s anywhere, two of 40 or three and one of 40 between two tb5.
func speeds(best native.LinkSpeed) []native.LinkSpeed {
	possible := []native.LinkSpeed{symmetric(10), symmetric(20), symmetric(40)}
	if best.TxBitsPerS > 40*gigabit {
		possible = append(possible, symmetric(80),
			native.LinkSpeed{TxBitsPerS: 120 * gigabit, RxBitsPerS: 40 * gigabit},
			native.LinkSpeed{TxBitsPerS: 40 * gigabit, RxBitsPerS: 120 * gigabit})
	}
	return possible
}

func symmetric(gigabits int64) native.LinkSpeed {
	return native.LinkSpeed{TxBitsPerS: gigabits * gigabit, RxBitsPerS: gigabits * gigabit}
}

// CheckSpeed refuses what the two ends cannot negotiate.
func CheckSpeed(speed native.LinkSpeed, a, b native.ThunderboltVersion) error {
	if speed == (native.LinkSpeed{}) {
		return nil
	}
	var texts []string
	for _, possible := range speeds(BestSpeed(a, b)) {
		if speed == possible {
			return nil
		}
		texts = append(texts, possible.String())
	}
	return fmt.Errorf("speed %s is impossible between %s and %s; they negotiate one of %s", speed, a, b, strings.Join(texts, ", "))
}
