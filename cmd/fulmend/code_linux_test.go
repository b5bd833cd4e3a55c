package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// smaps is a part of /proc/PID/smaps for a mapping.
func smaps(at, permissions, file string, anonymous, swap int) string {
	return fmt.Sprintf("%s %s 00000000 fe:00 42 %20s\nSize:  8 kB\nRss:   8 kB\nPrivate_Dirty:  0 kB\nAnonymous:  %d kB\nSwap:  %d kB\nVmFlags: rd mr mw me\n",
		at, permissions, file, anonymous, swap)
}

func TestCleanMappings(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want string
	}{
		"code":                 {smaps("00400000-00c8b000", "r-xp", "/bin/fulmend", 0, 0), "400000-c8b000"},
		"constants":            {smaps("00c8b000-01578000", "r--p", "/bin/fulmend", 0, 0), "c8b000-1578000"},
		"two":                  {smaps("1000-2000", "r-xp", "/a", 0, 0) + smaps("3000-4000", "r--p", "/b", 0, 0), "1000-2000 3000-4000"},
		"relocated":            {smaps("1000-2000", "r--p", "/lib/libc.so.6", 8, 0), ""},
		"relocated and out":    {smaps("1000-2000", "r--p", "/lib/libc.so.6", 0, 4), ""},
		"variables":            {smaps("1000-2000", "rw-p", "/bin/fulmend", 0, 0), ""},
		"of several processes": {smaps("1000-2000", "r--s", "/var/lib/state.db", 0, 0), ""},
		"of no file":           {smaps("1000-2000", "r-xp", "[vdso]", 0, 0), ""},
		"without a name":       {smaps("1000-2000", "r-xp", "", 0, 0), ""},
		"with a strange one":   {smaps("1000-2000", "r-xp", "/a b", 0, 0), ""},
		"backwards":            {smaps("2000-1000", "r-xp", "/a", 0, 0), ""},
		"no numbers":           {smaps("x-y", "r-xp", "/a", 0, 0), ""},
		"nothing":              {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for from, to := range cleanMappings(c.text) {
				got = append(got, fmt.Sprintf("%x-%x", from, to))
			}
			is.New(t).Equal(strings.Join(got, " "), c.want)
		})
	}
}

// The program goes on after its code was dropped, and had code to drop.
func TestDropCode(t *testing.T) {
	is := is.New(t)
	text, err := os.ReadFile("/proc/self/smaps")
	is.NoErr(err)
	found := 0
	for range cleanMappings(string(text)) {
		found++
	}
	is.True(found > 0)
	dropCode()
	is.Equal(strings.Repeat("a", 3), "aaa")
}
