package api

import "strings"

// crockford is the alphabet of Douglas Crockford's base 32, lower case: the
// digits and letters without i, l, o and u.
const crockford = "0123456789abcdefghjkmnpqrstvwxyz"

// encodeCrockford writes the first n*5 bits of b, most significant first.
// b holds at least that many bits.
func encodeCrockford(b []byte, n int) string {
	out := make([]byte, n)
	for i := range out {
		v := 0
		for bit := i * 5; bit < i*5+5; bit++ {
			v = v<<1 | int(b[bit/8]>>(7-bit%8))&1
		}
		out[i] = crockford[v]
	}
	return string(out)
}

// crockfordValue is the value 0 to 31 of a canonical character, -1 for any other byte.
func crockfordValue(c byte) int { return strings.IndexByte(crockford, c) }

// isCrockford says whether s holds canonical characters only.
func isCrockford(s string) bool {
	for i := range len(s) {
		if crockfordValue(s[i]) < 0 {
			return false
		}
	}
	return true
}

// FoldCrockford turns what a person may have typed into canonical characters:
// lower case, o read as 0, i and l read as 1, dashes and spaces dropped.
// Characters outside the alphabet stay, for the caller to refuse.
func FoldCrockford(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '-' || r == ' ':
			return -1
		case r == 'o' || r == 'O':
			return '0'
		case r == 'i' || r == 'I' || r == 'l' || r == 'L':
			return '1'
		case r >= 'A' && r <= 'Z':
			return r + ('a' - 'A')
		}
		return r
	}, s)
}
