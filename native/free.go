package native

import "golang.org/x/sys/unix"

// FreeBytes is the room on a path's disk, in bytes, for whoever asks (statfs(2)).
func FreeBytes(path string) (int64, error) {
	var disk unix.Statfs_t
	if err := unix.Statfs(path, &disk); err != nil {
		return 0, err
	}
	return int64(disk.Bavail) * int64(disk.Bsize), nil
}
