package rank

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
)

// RunByAnybody is a path of this program by which every account can execute it,
// wherever it lies.
func RunByAnybody(self string) string {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe"
	}
	return self
}

// RuntimeFolder makes where the ranks' sockets and host files lie, below the daemon's
// runtime folder: every account can pass through it. A daemon of root whose own folders
// are closed has it elsewhere; done then removes it, where nothing is left in it.
func RuntimeFolder(runtime string) (folder string, done func() error, err error) {
	done = func() error { return nil }
	folder = filepath.Join(runtime, "ranks")
	if os.Getuid() == 0 && !isOpen(runtime) {
		sum := sha256.Sum256([]byte(runtime))
		folder = filepath.Join("/var/run/fulmen-ranks", hex.EncodeToString(sum[:4]))
		done = func() error { os.Remove(folder); return nil }
	}
	return folder, done, os.MkdirAll(folder, 0o711)
}

// isOpen reports whether every account can pass through a folder.
func isOpen(folder string) bool {
	for at := folder; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		if at == filepath.Dir(at) {
			return true
		}
	}
}
