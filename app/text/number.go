package text

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Unknown is what is shown for a value that is not known.
const Unknown = "unknown"

// Bytes is a size of memory, in binary units with three significant digits:
// 512 GiB, 1.50 MiB, 17 B.
func Bytes(n int64) string {
	return scaled(float64(n), 1024, []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"})
}

// BytesPerS is a rate of memory or of a link, in decimal units, as makers give
// them: 819 GB/s.
func BytesPerS(n float64) string {
	return scaled(n, 1000, []string{"B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s"})
}

// BitsPerS is the speed of a link, in decimal units: 80 Gb/s, 74.8 Gb/s.
func BitsPerS(n int64) string {
	return trimmed(scaled(float64(n), 1000, []string{"b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s"}))
}

// trimmed takes the zeros at the end of a number's fraction away.
func trimmed(s string) string {
	number, unit, _ := strings.Cut(s, " ")
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	return number + " " + unit
}

// Micros is a time given in microseconds, as delays of links are: 9 µs, 0.34 ms.
func Micros(us float64) string {
	switch {
	case us < 999.5:
		return trimmed(digits(us) + " µs")
	case us < 999.5e3:
		return trimmed(digits(us/1e3) + " ms")
	}
	return trimmed(digits(us/1e6) + " s")
}

// TFLOPS is a speed of computation: 26.3 TFLOPS.
func TFLOPS(v float64) string { return digits(v) + " TFLOPS" }

// Percent is a ratio from 0 to 1: 37 %.
func Percent(ratio float64) string { return Fixed(ratio*100, 0) + " %" }

// Fixed is a number with so many places. What is in the middle goes up, as the dashboard has it.
func Fixed(v float64, places int) string {
	scale := math.Pow10(places)
	if scaled := v * scale; scaled-math.Floor(scaled) == 0.5 && math.FMA(v, scale, -scaled) == 0 {
		v = math.Nextafter(v, math.Inf(1))
	}
	return strconv.FormatFloat(v, 'f', places, 64)
}

// Count is a number with its noun: 1 cable, 3 cables.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

func scaled(v, base float64, units []string) string {
	unit := 0
	for math.Abs(v) >= base-base/2000 && unit < len(units)-1 {
		v /= base
		unit++
	}
	if unit == 0 {
		return Fixed(v, 0) + " " + units[0]
	}
	return digits(v) + " " + units[unit]
}

// digits writes three significant digits, and whole numbers from 100 on.
func digits(v float64) string {
	places := 0
	switch a := math.Abs(v); {
	case a < 0.00995:
		return strconv.FormatFloat(v, 'g', 2, 64)
	case a < 9.995:
		places = 2
	case a < 99.95:
		places = 1
	}
	return Fixed(v, places)
}

// Duration is a length of time in its one or two greatest units: 850 ms, 12 s,
// 3 min 5 s, 2 h 10 min, 4 d 3 h.
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + Duration(-d)
	case d < time.Millisecond:
		return strconv.FormatInt(d.Microseconds(), 10) + " µs"
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	case d < 10*time.Second:
		return strconv.FormatFloat(math.Floor(d.Seconds()*10)/10, 'f', -1, 64) + " s"
	case d < time.Minute:
		return strconv.FormatInt(int64(d/time.Second), 10) + " s"
	case d < time.Hour:
		return two(d, time.Minute, "min", time.Second, "s")
	case d < 24*time.Hour:
		return two(d, time.Hour, "h", time.Minute, "min")
	}
	return two(d, 24*time.Hour, "d", time.Hour, "h")
}

func two(d, big time.Duration, bigName string, small time.Duration, smallName string) string {
	out := strconv.FormatInt(int64(d/big), 10) + " " + bigName
	if rest := int64(d % big / small); rest > 0 {
		out += " " + strconv.FormatInt(rest, 10) + " " + smallName
	}
	return out
}

// Ago is how long before now something was: 3 min ago. A moment in the future,
// which a clock that stepped makes, is shown as it is.
func Ago(now, then time.Time) string {
	d := now.Sub(then)
	switch {
	case then.IsZero():
		return "never"
	case d < -time.Minute:
		return "at " + then.UTC().Format(time.DateTime) + " UTC"
	case d < time.Second:
		return "just now"
	}
	return Duration(d.Truncate(time.Second)) + " ago"
}
