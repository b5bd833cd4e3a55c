package mac

import (
	"errors"
	"io/fs"
	"syscall"
)

// uidOf is whose a file is.
func uidOf(info fs.FileInfo) (uint32, error) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, errors.New("the system does not say whose it is")
	}
	return s.Uid, nil
}
