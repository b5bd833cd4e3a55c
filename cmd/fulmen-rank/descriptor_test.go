package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"
)

func TestMessageFile(t *testing.T) {
	is := is.New(t)
	reading, writing, err := os.Pipe()
	is.NoErr(err)
	defer reading.Close()
	defer writing.Close()
	file, err := os.Create(filepath.Join(t.TempDir(), "messages"))
	is.NoErr(err)
	defer file.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	is.NoErr(err)
	defer null.Close()

	for _, test := range []struct {
		name string
		fd   uintptr
		want bool
	}{
		{"the writing end of a pipe", writing.Fd(), true},
		{"a file", file.Fd(), true},
		{"the reading end of a pipe", reading.Fd(), false},
		{"a device", null.Fd(), false},
	} {
		copied, err := unix.Dup(int(test.fd))
		is.NoErr(err)
		got := messageFile(copied)
		if (got != nil) != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
		if got != nil {
			got.Close()
		} else {
			is.NoErr(unix.Close(copied))
		}
	}
	is.True(messageFile(1<<20) == nil) // not open
}
