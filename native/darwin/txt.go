package darwin

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxTXT is the most that a TXT record may have: what fits into one packet with
// the rest of an announcement (RFC 6763 says to stay below 1300 bytes).
const maxTXT = 1200

// encodeTXT writes pairs as a TXT record: each one length byte and KEY=VALUE.
func encodeTXT(pairs map[string]string) ([]byte, error) {
	var b []byte
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		pair := key + "=" + pairs[key]
		if key == "" || strings.Contains(key, "=") || len(pair) > 255 {
			return nil, fmt.Errorf("%.40q does not fit a TXT record", pair)
		}
		b = append(append(b, byte(len(pair))), pair...)
	}
	if len(b) > maxTXT {
		return nil, fmt.Errorf("a TXT record of %d bytes is too long: at most %d are allowed", len(b), maxTXT)
	}
	if len(b) == 0 {
		b = []byte{0} // an empty record has one empty text
	}
	return b, nil
}

// decodeTXT reads a record that somebody on the network has written. Of a key that
// comes twice the first counts; what has no name is passed over.
func decodeTXT(b []byte) map[string]string {
	pairs := map[string]string{}
	for len(b) > 0 {
		n := int(b[0])
		if n >= len(b) {
			break // cut short
		}
		key, value, _ := strings.Cut(string(b[1:1+n]), "=")
		if _, twice := pairs[key]; key != "" && !twice {
			pairs[key] = value
		}
		b = b[1+n:]
	}
	return pairs
}
