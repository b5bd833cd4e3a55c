package proc

import (
	"cmp"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// evidence is what a process printed that tells how it died. The worker is a Go
// program: a fault or an abort inside C++ is caught by Go's runtime, which
// writes a trace that begins with the signal, and then ends the process by
// status 2, or, where core files are wanted, by SIGABRT or SIGQUIT, whatever
// the signal was. It is looked at only where a process ended without a last word.
type evidence struct {
	signal string // "SIGSEGV", where the trace names one
	line   string // the line that says most
	memory bool   // it speaks of memory that was not to be had

	panicked bool // the line is a panic or a fatal error of Go
}

var (
	// "SIGABRT: abort", or "[signal SIGSEGV: segmentation violation code=...".
	tracedSignal = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:\[signal )?(SIG[A-Z0-9]{2,10}): `) })
	// A panic and a fatal error of Go, an exception of C++, a library that the
	// dynamic loader misses (on Linux, on macOS).
	reporting = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^panic: |^fatal error: |^\s*what\(\):  |^libc\+\+abi: |error while loading shared libraries: |Library not loaded: `)
	})
	// What Go, the C++ library, the C library and Metal say.
	noMemory = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`bad_alloc|(?i:out of memory|cannot allocate memory|insufficient memory)`)
	})
)

// examine looks for evidence. The first line that tells something counts, else
// the last one before the trace.
func examine(printed string) evidence {
	var e evidence
	last := ""
	for line := range strings.Lines(printed) {
		line = strings.TrimRight(line, "\r\n")
		if m := tracedSignal().FindStringSubmatch(line); m != nil && e.signal == "" {
			e.signal = m[1]
		}
		if e.signal == "" && strings.TrimSpace(line) != "" {
			last = line
		}
		if e.line == "" && reporting().MatchString(line) {
			e.line = line
		}
		e.memory = e.memory || noMemory().MatchString(line)
	}
	e.panicked = strings.HasPrefix(e.line, "panic: ") || strings.HasPrefix(e.line, "fatal error: ")
	e.line = clean(cmp.Or(e.line, last), maxQuote)
	return e
}

// How many characters of foreign text go into one of our sentences.
const (
	maxStage = 80
	maxQuote = 200
)

// clean makes one line of printable text of at most limit characters from what
// a process wrote: control characters, also those that steer a terminal or turn
// the direction of writing, become spaces, and runs of space one.
func clean(s string, limit int) string {
	// Whoever sends a megabyte pays for no more than what can be kept.
	s = s[:min(len(s), 8*limit)]
	s = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:limit-1])) + "…"
}
