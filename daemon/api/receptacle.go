package api

import "strconv"

// MaxReceptacle is the highest number of a receptacle.
const MaxReceptacle = 255

// Receptacle is the number of a Thunderbolt socket of a Mac, 1 to 255, as the
// system itself numbers it. Where it sits on the case is a fact of the
// thunderbolt document. Zero is no receptacle.
type Receptacle int // not uint8: encoding/json writes a slice of those as base64

// ParseReceptacle reads a receptacle number.
func ParseReceptacle(s string) (Receptacle, error) {
	n, err := parseCount("receptacle", s, 1, MaxReceptacle)
	return Receptacle(n), err
}

// String is the decimal number.
func (r Receptacle) String() string { return strconv.Itoa(int(r)) }
