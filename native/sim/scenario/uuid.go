package scenario

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// MakeUUID derives a UUID from names, the same at every start, so that nothing
// about a simulated Mac depends on when it was simulated. It carries the version
// for such own schemes (8 of RFC 9562), which no Mac uses.
func MakeUUID(names ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(names, "\x00")))
	b := sum[:16]
	b[6] = b[6]&0x0f | 0x80
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%X-%X-%X-%X-%X", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}
