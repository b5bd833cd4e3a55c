package scenario

import (
	"fmt"
	"strconv"
	"strings"
)

// maxSize bounds a memory size: 1 PB, above any Mac's.
const maxSize = 1 << 50

// ParseSize reads a memory size in bytes: "512 GB", "1.5 TB", "300MB". The
// units are powers of 1024, as memory is sold: 512 GB is 512 * 2^30 bytes; GiB
// and its like are read as the same. Signs, exponents, more than three decimals
// and more than 1 PB are errors.
func ParseSize(text string) (int64, error) {
	number := strings.TrimRight(text, "KMGTiB ")
	var unit int64
	switch strings.TrimSpace(text[len(number):]) {
	case "KB", "KiB":
		unit = 1 << 10
	case "MB", "MiB":
		unit = 1 << 20
	case "GB", "GiB":
		unit = 1 << 30
	case "TB", "TiB":
		unit = 1 << 40
	default:
		return 0, fmt.Errorf("size %.40q: write a number and KB, MB, GB or TB, such as \"512 GB\"", text)
	}
	whole, decimals, _ := strings.Cut(strings.TrimSpace(number), ".")
	digits := whole + (decimals + "000")[:3]
	thousandths, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || whole == "" || len(decimals) > 3 || len(whole) > 9 {
		return 0, fmt.Errorf("size %.40q: %.40q is not a number with at most three decimals", text, strings.TrimSpace(number))
	}
	// At most 10^12 thousandths: compared before it is multiplied, so that
	// nothing overflows.
	if thousandths > uint64(maxSize/unit)*1000 {
		return 0, fmt.Errorf("size %.40q is more than 1 PB", text)
	}
	whole1000, rest := int64(thousandths/1000), int64(thousandths%1000)
	return whole1000*unit + rest*unit/1000, nil
}
