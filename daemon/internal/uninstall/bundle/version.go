package bundle

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"fulmen/native/plist"
)

// maxInfo bounds what is read of an Info.plist.
const maxInfo = 1 << 20

// VersionOf tells one bundle of an app at a path from another: by the versions in
// its Info.plist, and by the folder itself, since two builds may have the same ones.
// Empty where there is no bundle with that identifier.
func VersionOf(path, identifier string) string {
	file, err := os.Open(filepath.Join(path, "Contents", "Info.plist"))
	if err != nil {
		return ""
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxInfo))
	if err != nil {
		return ""
	}
	list, err := plist.Parse(text)
	if err != nil {
		return ""
	}
	info, isDictionary := list.(map[string]any)
	if !isDictionary || info["CFBundleIdentifier"] != identifier {
		return ""
	}
	folder, err := os.Stat(path)
	if err != nil {
		return ""
	}
	inode := uint64(0)
	if s, ok := folder.Sys().(*syscall.Stat_t); ok {
		inode = s.Ino
	}
	return fmt.Sprintf("%v (%v), %d", info["CFBundleShortVersionString"], info["CFBundleVersion"], inode)
}
