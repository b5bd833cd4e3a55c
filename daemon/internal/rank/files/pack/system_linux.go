package pack

import (
	"io/fs"
	"syscall"
	"time"
)

// privacyProtects says that EPERM comes from the system's protection of privacy.
const privacyProtects = false

// inodeChanged is when anything of a file last changed.
func inodeChanged(info fs.FileInfo) time.Time {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(s.Ctim.Unix())
	}
	return info.ModTime()
}
