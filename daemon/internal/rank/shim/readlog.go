package shim

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Log reads a rank's output while it is written or after its end.
type Log struct{ file *os.File }

// OpenLog opens the log of a stream by the path of its file.
func OpenLog(path string) (*Log, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &Log{file: file}, nil
}

// Size is how far the log goes, in bytes, the part that was not kept included.
func (l *Log) Size() (int64, error) {
	info, err := l.file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// ReadAt reads from the offset, or from the first kept byte after it: skipped
// is how many between the two were not kept. The next offset is
// offset + skipped + n. At the end of what there is the error is io.EOF; more
// may come.
func (l *Log) ReadAt(p []byte, offset int64) (n int, skipped int64, err error) {
	data, err := seek(l.file, offset, unix.SEEK_DATA)
	if errors.Is(err, unix.ENXIO) {
		return 0, 0, io.EOF
	}
	if err != nil {
		return 0, 0, err
	}
	hole, err := seek(l.file, data, unix.SEEK_HOLE)
	if err != nil {
		return 0, 0, err
	}
	if left := hole - data; int64(len(p)) > left {
		p = p[:left]
	}
	n, err = l.file.ReadAt(p, data)
	if n > 0 {
		err = nil
	}
	return n, data - offset, err
}

// Close closes the log.
func (l *Log) Close() error { return l.file.Close() }

// seek finds data or a hole. The end of the file is a hole.
func seek(f *os.File, offset int64, whence int) (int64, error) {
	for {
		at, err := unix.Seek(int(f.Fd()), offset, whence)
		if !errors.Is(err, unix.EINTR) {
			return at, err
		}
	}
}
