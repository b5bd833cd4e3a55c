package api

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"fulmen/daemon/api/scan"
)

const (
	// maxNumber bounds every number of a document: JSON keeps whole numbers up to
	// here exactly, and sums over hundreds of nodes do not overflow.
	maxNumber = 1 << 53
	// maxCelsius is above what anything in a computer survives.
	maxCelsius = 1000
	// minCelsius is absolute zero.
	minCelsius = -273.15
)

// ranges are the ends of names that give a number its unit, with the range of such
// numbers. The first that fits counts.
var ranges = []struct {
	suffix   string
	min, max float64
}{
	{"_spread_ratio", 0, maxNumber},
	{"_ratio", 0, 1},
	{"_celsius", minCelsius, maxCelsius},
	{"_bytes", 0, maxNumber},
	{"_bits_per_s", 0, maxNumber},
	{"_bytes_per_s", 0, maxNumber},
	{"_us", 0, maxNumber},
	{"_s", 0, maxNumber},
	{"_tflops", 0, maxNumber},
	{"_watts", 0, maxNumber},
	{"_hz", 0, maxNumber},
	{"", -maxNumber, maxNumber}, // counts and ordinal numbers
}

// CheckNumbers refuses a value in which a number is outside of the range of its
// unit, which its name ends with, or in which more is used than there is. It knows
// no kinds, so that those of a newer version are held to it too.
func (d *Document) CheckNumbers() error {
	if problem := checkNumbers("", d.Value); problem != "" {
		return Errorf(ReasonMalformedDocument, d.Key().String(), "%s: %s", d.Key(), problem)
	}
	return nil
}

// checkNumbers looks through a value that has a name, and says what is wrong.
func checkNumbers(name string, value []byte) (problem string) {
	if len(value) == 0 {
		return ""
	}
	switch c := value[0]; {
	case c == '{':
		amounts := map[string]float64{}
		scan.Object(value, func(name, value []byte) bool {
			member := folded(name)
			problem = checkNumbers(member, value)
			if n, err := strconv.ParseFloat(string(value), 64); err == nil {
				amounts[member] = n
			}
			return problem == ""
		})
		for name, used := range amounts {
			of, isUsed := strings.CutSuffix(name, "used_bytes")
			if total, isKnown := amounts[of+"total_bytes"]; problem == "" && isUsed && isKnown && used > total {
				problem = fmt.Sprintf("%s is more than %stotal_bytes", name, of)
			}
		}
	case c == '[':
		scan.List(value, func(value []byte) bool {
			problem = checkNumbers(name, value)
			return problem == ""
		})
	case c == '-' || c >= '0' && c <= '9':
		n, err := strconv.ParseFloat(string(value), 64)
		for _, u := range ranges {
			if strings.HasSuffix("_"+name, u.suffix) {
				if err != nil || math.IsNaN(n) || n < u.min || n > u.max {
					problem = name + " is out of range"
				}
				break
			}
		}
	}
	return problem
}

// folded is the name for which encoding/json takes a name between quotes, which may
// hold escapes, and letters of another case.
func folded(name []byte) string {
	text := string(name)
	if !scan.Plain(text) {
		if json.Unmarshal([]byte(`"`+text+`"`), &text) != nil {
			return "" // it was found to be JSON before
		}
	}
	return strings.Map(func(r rune) rune {
		switch r {
		case 'ſ':
			return 's'
		case '\u212a': // the sign of the unit kelvin
			return 'k'
		}
		return unicode.ToLower(r)
	}, text)
}
