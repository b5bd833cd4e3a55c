package main

import (
	"iter"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// dropCode takes the pages of programs' files out of the process that are as they
// are on the disk: most were needed at the start alone. What is needed again comes
// from the system's cache, where it stays. Where anything cannot be told, nothing
// is done.
func dropCode() {
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	for from, to := range cleanMappings(string(text)) {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED)
	}
}

// cleanMappings are, of those in the text of /proc/PID/smaps, the ranges of
// private mappings of files that cannot be written to and never were: what a
// loader has relocated is lost where its pages are dropped, also while they are
// swapped out.
func cleanMappings(text string) iter.Seq2[uintptr, uintptr] {
	return func(yield func(from, to uintptr) bool) {
		var from, to uintptr
		isClean := false
		for line := range strings.Lines(text + "0-0 end\n") {
			fields := strings.Fields(line)
			switch {
			case len(fields) < 2:
			case !strings.HasSuffix(fields[0], ":"):
				if isClean && !yield(from, to) {
					return
				}
				isClean = len(fields) == 6 && (fields[1] == "r--p" || fields[1] == "r-xp") && strings.HasPrefix(fields[5], "/")
				begin, end, _ := strings.Cut(fields[0], "-")
				from, to = address(begin), address(end)
				isClean = isClean && from < to
			case fields[0] == "Anonymous:" || fields[0] == "Swap:":
				isClean = isClean && fields[1] == "0"
			}
		}
	}
}

// address is a hexadecimal number; 0 where it is none.
func address(text string) uintptr {
	n, err := strconv.ParseUint(text, 16, strconv.IntSize)
	if err != nil {
		return 0
	}
	return uintptr(n)
}
