package shim

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Log reads a rank's output while it is written or after its end.
type Log struct{ file *os.File }

// OpenLog opens the log of a stream by the path of its file. Where the shim runs
// as the rank's account, the folder is that account's too, and the reader may
// have more rights: so a link, by name or by inode, and what is no plain file are
// refused.
func OpenLog(path string) (*Log, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &st); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || st.Nlink > 1 {
		return nil, errors.Join(&os.PathError{Op: "open", Path: path, Err: errors.New("is not a log")}, file.Close())
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
	for {
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
		n, err := l.file.ReadAt(p[:min(int64(len(p)), hole-data)], data)
		if n > 0 {
			err = nil
		}
		// The shim may have freed these blocks meanwhile, which then read as
		// zeros. What is no hole afterwards was none before.
		if again, seekErr := seek(l.file, data, unix.SEEK_HOLE); seekErr == nil && again < data+int64(n) {
			continue
		}
		return n, data - offset, err
	}
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
