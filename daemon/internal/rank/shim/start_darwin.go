package shim

import (
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/shimproto"
)

// enlargePipe does nothing: the system makes pipes larger by itself.
func enlargePipe(*os.File) {}

// nap waits for less than a millisecond.
func nap(d time.Duration) { time.Sleep(d) }

// denied is the reason of an error that is about rights, or of any other. EPERM,
// and not EACCES, is what macOS gives for folders that a person has to open to
// Fulmen first.
func denied(err error) api.Reason {
	switch {
	case errors.Is(err, unix.EPERM):
		return api.ReasonMacOSPrivacy
	case errors.Is(err, unix.EACCES):
		return api.ReasonPermissionDenied
	}
	return api.ReasonSpawnFailed
}

// adopt does nothing: macOS has no such thing, and launchd ends what is left of
// the job.
func adopt() error { return nil }

// start starts the program in a session and group of its own. launchd has given
// the shim the account's rights already (UserName, InitGroups); checkAccount
// sees to that. A shim that is root all the same lets the system take them
// between fork and exec, where any failure ends the start.
func start(spec shimproto.Spec, s *streams, _ <-chan struct{}) (int, error) {
	if err := checkAccount(spec.User); err != nil {
		return 0, err
	}
	sys := s.attributes()
	if u := spec.User; u != nil && os.Geteuid() == 0 {
		sys.Credential = &syscall.Credential{Uid: u.UID, Gid: u.GID, Groups: u.Groups}
	}
	return execute(spec, s, sys)
}
