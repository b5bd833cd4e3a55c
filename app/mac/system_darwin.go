package mac

import "golang.org/x/sys/unix"

// systemVersion is the version of macOS; empty where it cannot be told, and then nothing
// is refused for it.
func systemVersion() string {
	version, err := unix.Sysctl("kern.osproductversion")
	if err != nil {
		return ""
	}
	return version
}
