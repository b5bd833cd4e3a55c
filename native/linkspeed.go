package native

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	megabit int64 = 1_000_000
	gigabit int64 = 1_000_000_000
	// maxLinkBitsPerS bounds what a text may claim, well above any cable's rate.
	maxLinkBitsPerS = 10_000 * gigabit
)

// LinkSpeed is a pair of rates. UpTo marks a limit ("Up to 120 Gb/s", what an
// idle port could do) as opposed to something negotiated.
type LinkSpeed struct {
	TxBitsPerS int64 `json:"tx_bits_per_s"`
	RxBitsPerS int64 `json:"rx_bits_per_s"`
	UpTo       bool  `json:"up_to,omitzero"`
}

// Min returns the slower of two speeds in each direction; it is a limit when
// either was.
func (s LinkSpeed) Min(other LinkSpeed) LinkSpeed {
	return LinkSpeed{
		TxBitsPerS: min(s.TxBitsPerS, other.TxBitsPerS),
		RxBitsPerS: min(s.RxBitsPerS, other.RxBitsPerS),
		UpTo:       s.UpTo || other.UpTo,
	}
}

// String writes "80 Gb/s", "120/40 Gb/s" (out/in), "Up to 120 Gb/s", and Mb/s
// where that is shorter, in the form that [ParseLinkSpeed] reads and exact to
// the kilobit.
func (s LinkSpeed) String() string {
	unit, name := gigabit, " Gb/s"
	if min(s.TxBitsPerS, s.RxBitsPerS) < gigabit || s.TxBitsPerS%megabit != 0 || s.RxBitsPerS%megabit != 0 {
		unit, name = megabit, " Mb/s"
	}
	text := decimal(s.TxBitsPerS, unit)
	if s.RxBitsPerS != s.TxBitsPerS {
		text += "/" + decimal(s.RxBitsPerS, unit)
	}
	if s.UpTo {
		text = "Up to " + text
	}
	return text + name
}

func decimal(bits, unit int64) string {
	text := fmt.Sprintf("%d.%03d", bits/unit, bits%unit/(unit/1000))
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}

// ParseLinkSpeed reads a speed as systems and people write it: "80 Gb/s",
// "Up to 120 Gb/s" (system_profiler), "40.0 Gb/s" (Linux sysfs), "80G",
// "120/40G" (out/in). The unit is one of Gb/s, Gbit/s, Gbps, G and the same
// with M. Zero, signs, exponents and more than 10 Tb/s are errors.
func ParseLinkSpeed(text string) (LinkSpeed, error) {
	rest, upTo := strings.CutPrefix(strings.TrimSpace(text), "Up to ")
	number, unit, err := cutUnit(strings.TrimSpace(rest))
	if err != nil {
		return LinkSpeed{}, fmt.Errorf("link speed %.40q: %w", text, err)
	}
	out, in, asymmetric := strings.Cut(number, "/")
	if !asymmetric {
		in = out
	}
	speed := LinkSpeed{UpTo: upTo}
	if speed.TxBitsPerS, err = parseRate(out, unit); err == nil {
		speed.RxBitsPerS, err = parseRate(in, unit)
	}
	if err != nil {
		return LinkSpeed{}, fmt.Errorf("link speed %.40q: %w", text, err)
	}
	return speed, nil
}

func cutUnit(text string) (number string, unit int64, err error) {
	for _, suffix := range []string{"b/s", "bit/s", "bps", ""} {
		for prefix, bits := range map[string]int64{"G": gigabit, "M": megabit} {
			if number, ok := strings.CutSuffix(text, prefix+suffix); ok {
				return strings.TrimSpace(number), bits, nil
			}
		}
	}
	return "", 0, fmt.Errorf("no unit such as Gb/s")
}

// parseRate reads digits with at most three decimals; floats would let NaN,
// exponents and rounding in.
func parseRate(number string, unit int64) (int64, error) {
	whole, decimals, _ := strings.Cut(number, ".")
	if len(whole) > 8 || len(decimals) > 3 {
		return 0, fmt.Errorf("%.40q has too many digits", number)
	}
	for _, r := range whole + decimals {
		if r < '0' || r > '9' {
			return 0, fmt.Errorf("%.40q is not a number", number)
		}
	}
	if whole == "" || strings.HasSuffix(number, ".") {
		return 0, fmt.Errorf("%.40q is not a number", number)
	}
	thousandths, err := strconv.ParseInt(whole+(decimals + "000")[:3], 10, 64)
	if err != nil {
		return 0, err
	}
	// The largest product is 99_999_999_999 * 1e6: no overflow.
	bits := thousandths * (unit / 1000)
	if bits == 0 || bits > maxLinkBitsPerS {
		return 0, fmt.Errorf("%s is outside 0 to 10 Tb/s", number)
	}
	return bits, nil
}
