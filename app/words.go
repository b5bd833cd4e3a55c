package app

import (
	"fmt"
	"strconv"
	"time"

	apptext "fulmen/app/text"
)

// clean makes a name that somebody else chose harmless, and no longer than a
// line of a menu.
func clean(s string) string { return shorten(apptext.Clean(s), maxLine) }

// maxLine is the most characters of a name or sentence in a line of the menu.
const maxLine = 90

// shorten cuts a text at most characters, saying that it did.
func shorten(s string, most int) string {
	letters := []rune(s)
	if len(letters) <= most {
		return s
	}
	return string(letters[:most-1]) + "…"
}

func tflops(v float64) string {
	if v < 9.95 {
		return apptext.TFLOPS(v)
	}
	return apptext.Fixed(v, 0) + " TFLOPS"
}

func watts(v float64) string { return apptext.Fixed(v, 0) + " W" }

func percent(ratio float64) string { return apptext.Percent(ratio) }

// gigabytes is a size of memory as Macs are sold by: 512 GB are 2^39 bytes.
func gigabytes(n int64) string { return giga(n) + " GB" }

func giga(n int64) string { return strconv.FormatInt((n+1<<29)>>30, 10) }

// memory is what is used of a total: 612 of 1536 GB.
func memory(used, total *int64) string {
	if used == nil {
		return gigabytes(*total)
	}
	return giga(*used) + " of " + gigabytes(*total)
}

// since is how long something has been so, in whole units that seldom change.
func since(now, then time.Time) string {
	d := now.Sub(then)
	switch {
	case then.IsZero():
		return ""
	case d < time.Minute:
		return "less than a minute"
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return apptext.Duration(d.Truncate(time.Minute))
}
