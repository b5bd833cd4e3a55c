package darwin

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"fulmen/native"
)

// compatibleVersion begins the version that the kernel names to a program built with the
// SDK of a system before macOS 26: 16.2 in place of 26.2 (xnu, bsd/kern/kern_sysctl.c).
const compatibleVersion = "16."

// Apple's RDMA driver came with macOS 26.2, whose build is 25C56: Darwin's number, and a
// letter that grows with each release of it.
const (
	driverMajor, driverMinor = 26, 2
	driverDarwin             = 25
	driverLetter             = "C"
)

var buildText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9]{2,3})([A-Z])[0-9]`) })

// setVersion reads the system's version, which is unknown where the kernel names another.
func setVersion(s sysctl, id *native.Identity) {
	text(s, &id.OSVersion, &id.Unknown, "os_version", "kern.osproductversion")
	if strings.HasPrefix(id.OSVersion, compatibleVersion) {
		id.Unknown.Add("os_version", native.ReasonSourceMalformed.With("the kernel says "+id.OSVersion+" to programs built with an SDK before macOS 26"))
		id.OSVersion = ""
	}
}

// hasDriver says whether this version of macOS has RDMA over Thunderbolt: by its number or,
// where that is not the system's own or no number, by the build.
func hasDriver(s sysctl) (bool, native.Reason) {
	version, err := s.Text("kern.osproductversion")
	if major, minor, is := versionNumbers(version); err == nil && is && !strings.HasPrefix(version, compatibleVersion) {
		return major > driverMajor || major == driverMajor && minor >= driverMinor, ""
	}
	build, buildErr := s.Text("kern.osversion")
	if found := buildText().FindStringSubmatch(build); buildErr == nil && found != nil {
		darwin, _ := strconv.Atoi(found[1])
		return darwin > driverDarwin || darwin == driverDarwin && found[2] >= driverLetter, ""
	}
	if err != nil {
		return false, reason("kern.osproductversion", err)
	}
	return false, native.ReasonSourceMalformed.With("neither kern.osproductversion nor kern.osversion is a version")
}

// versionNumbers are the first two of a version such as 26.2 or 27.
func versionNumbers(version string) (major, minor int, is bool) {
	first, rest, more := strings.Cut(strings.TrimSpace(version), ".")
	second, _, _ := strings.Cut(rest, ".")
	major, err := strconv.Atoi(first)
	if err != nil || major < 1 {
		return 0, 0, false
	}
	if more {
		if minor, err = strconv.Atoi(second); err != nil || minor < 0 {
			return 0, 0, false
		}
	}
	return major, minor, true
}
