package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
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
	if len(d.Value) == 0 {
		return nil
	}
	if problem := checkNumbers("", d.Value); problem != "" {
		return Errorf(ReasonMalformedDocument, d.Key().String(), "%s: %s", d.Key(), problem)
	}
	return nil
}

// checkNumbers looks through a value that has a name, and says what is wrong.
func checkNumbers(name string, value []byte) (problem string) {
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
	_, problem = checkNext(dec, name)
	return problem
}

// checkNext is checkNumbers of the next value, which it gives where it is a number or
// a text. Of names that come more than once it sees every value.
func checkNext(dec *json.Decoder, name string) (value json.Token, problem string) {
	value, err := dec.Token()
	if err != nil {
		return nil, "is not JSON: " + err.Error()
	}
	switch value {
	case json.Delim('{'):
		problem = checkMembers(dec)
	case json.Delim('['):
		for dec.More() && problem == "" {
			_, problem = checkNext(dec, name)
		}
	default:
		if number, is := value.(json.Number); is {
			problem = checkNumber(name, number)
		}
		return value, problem
	}
	if problem != "" {
		return nil, problem
	}
	if _, err = dec.Token(); err != nil {
		problem = "is not JSON: " + err.Error()
	}
	return nil, problem
}

// checkMembers looks through the members of an object up to its end.
func checkMembers(dec *json.Decoder) string {
	amounts := map[string]float64{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return "is not JSON: " + err.Error()
		}
		name := folded(key.(string)) // the decoder takes nothing else as a key
		value, problem := checkNext(dec, name)
		if problem != "" {
			return problem
		}
		if number, is := value.(json.Number); is {
			amounts[name], _ = number.Float64() // it is in range
		}
	}
	for name, used := range amounts {
		of, isUsed := strings.CutSuffix(name, "used_bytes")
		if total, isKnown := amounts[of+"total_bytes"]; isUsed && isKnown && used > total {
			return fmt.Sprintf("%s is more than %stotal_bytes", name, of)
		}
	}
	return ""
}

func checkNumber(name string, number json.Number) string {
	n, err := number.Float64()
	for _, u := range ranges {
		if strings.HasSuffix("_"+name, u.suffix) {
			if err != nil || n < u.min || n > u.max {
				return name + " is out of range"
			}
			break
		}
	}
	return ""
}

// folded is the name of a struct's field for which encoding/json takes a name, which
// may have letters of another case.
func folded(name string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case 'ſ':
			return 's'
		case '\u212a': // the sign of the unit kelvin
			return 'k'
		}
		return unicode.ToLower(r)
	}, name)
}
