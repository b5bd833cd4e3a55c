package store

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/matryer/is"
)

// A mapped file that was cut short meanwhile ends a call, and not the process.
func TestAFaultOfMemoryIsAnError(t *testing.T) {
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "mapped")
	is.NoErr(os.WriteFile(path, make([]byte, 1<<16), 0o600))
	file, err := os.Open(path)
	is.NoErr(err)
	defer file.Close()
	mapped, err := syscall.Mmap(int(file.Fd()), 0, 1<<16, syscall.PROT_READ, syscall.MAP_SHARED)
	is.NoErr(err)
	defer func() { is.NoErr(syscall.Munmap(mapped)) }()
	is.NoErr(os.Truncate(path, 0))
	var read byte
	err = guard(func() error {
		read = mapped[1<<15]
		return nil
	})
	var p *panicked
	is.True(errors.As(err, &p))
	is.Equal(read, byte(0))
}
