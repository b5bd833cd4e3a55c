package shim_test

import (
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/internal/rank/shim"
)

// kept reads a log from its start.
func kept(t *testing.T, path string) (data []byte, skipped int64) {
	t.Helper()
	is := is.New(t)
	log, err := shim.OpenLog(path)
	is.NoErr(err)
	defer log.Close()
	buffer := make([]byte, 100_000)
	for offset := int64(0); ; {
		n, missing, err := log.ReadAt(buffer, offset)
		if errors.Is(err, io.EOF) {
			size, err := log.Size()
			is.NoErr(err)
			is.Equal(size, offset)
			return data, skipped
		}
		is.NoErr(err)
		data = append(data, buffer[:n]...)
		skipped += missing
		offset += missing + int64(n)
	}
}

func TestHeadAndTailOfALongOutput(t *testing.T) {
	t.Parallel()
	const head, tail = 64 << 10, 1 << 20
	size := int64(1) << 30
	script := `printf begin; head -c 1073741824 /dev/zero; printf end`
	if testing.Short() {
		size, script = 64<<20, `printf begin; head -c 67108864 /dev/zero; printf end`
	}
	is := is.New(t)
	h := hold(t, specOf(t, script))
	r := h.wait()
	is.Equal(*r.Code, 0)
	log := r.Logs[0]
	is.Equal(log.WrittenBytes, size+8)
	is.Equal(log.Problem, "")
	is.True(log.KeptBytes < log.WrittenBytes)
	is.True(log.KeptBytes >= head+tail && log.KeptBytes <= head+tail+(2<<20))
	is.True(onDisk(t, filepath.Join(h.spec.Folder, log.File)) <= head+tail+(2<<20)) // the rest was given back

	data, skipped := kept(t, filepath.Join(h.spec.Folder, log.File))
	is.Equal(int64(len(data)), log.KeptBytes)
	is.Equal(skipped, log.WrittenBytes-log.KeptBytes)
	is.Equal(string(data[:6]), "begin\x00")
	is.Equal(string(data[len(data)-4:]), "\x00end")
}

func TestAShortOutputIsWhole(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	h := hold(t, specOf(t, `head -c 1000000 /dev/zero | tr '\0' x >&2`))
	r := h.wait()
	is.Equal(r.Logs[1].WrittenBytes, int64(1_000_000))
	is.True(r.Logs[1].KeptBytes == r.Logs[1].WrittenBytes)
	data, skipped := kept(t, filepath.Join(h.spec.Folder, "err.1"))
	is.Equal(len(data), 1_000_000)
	is.Equal(skipped, int64(0))
}
