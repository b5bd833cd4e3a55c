package shim

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/shimproto"
)

// enlargePipe gives a pipe the size of one read; a system that allows less keeps less.
func enlargePipe(f *os.File) {
	if raw, err := f.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, chunk) })
	}
}

// nap waits for less than a millisecond, for which the runtime's timers are too
// coarse here.
func nap(d time.Duration) {
	ts := unix.NsecToTimespec(d.Nanoseconds())
	_ = unix.Nanosleep(&ts, nil)
}

// denied is the reason of an error that is about rights, or of any other.
func denied(err error) api.Reason {
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
		return api.ReasonPermissionDenied
	}
	return api.ReasonSpawnFailed
}

// adopt makes this process the parent of every descendant whose own is gone.
func adopt() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// start starts the program in a session and group of its own, on a thread of its
// own that takes the account's rights and lives until the shim ends: rights
// belong to a thread on Linux, and PR_SET_PDEATHSIG means the thread that forked.
// So the rights are checked, before any path of the spec is opened, by the
// very thread that opens them.
// It lives until over, where that is not nil, says that the program has ended.
func start(spec shimproto.Spec, s *streams, over <-chan struct{}) (int, error) {
	if err := checkAccount(spec.User); err != nil {
		return 0, err
	}
	type result struct {
		pid int
		err error
	}
	started := make(chan result)
	go func() {
		runtime.LockOSThread()
		r := result{}
		if spec.User != nil && os.Geteuid() == 0 {
			if err := drop(*spec.User); err != nil {
				r.err = notStarted(api.ReasonPermissionDenied, err.Error())
			}
		}
		if r.err == nil {
			sys := s.attributes()
			sys.Pdeathsig = syscall.SIGKILL
			r.pid, r.err = execute(spec, s, sys)
		}
		started <- r
		<-over // the thread's end would be the program's
	}()
	r := <-started
	return r.pid, r.err
}

// drop gives the calling thread, and it alone, the rights of the account, and
// checks that nothing of its former ones is left or can be had again.
func drop(u shimproto.User) error {
	groups := []uint32{u.GID}
	for _, g := range u.Groups {
		if !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	// Raw calls: those of package syscall would change every thread.
	if err := setGroups(groups); err != nil {
		return fmt.Errorf("setgroups: %w", err)
	}
	gid, uid := uintptr(u.GID), uintptr(u.UID)
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESGID, gid, gid, gid); errno != 0 {
		return fmt.Errorf("setresgid: %w", errno)
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uid, uid, uid); errno != 0 {
		return fmt.Errorf("setresuid: %w", errno)
	}
	return checkDropped(int(u.UID), int(u.GID), groups)
}

func checkDropped(uid, gid int, groups []uint32) error {
	if r, e, s := unix.Getresuid(); r != uid || e != uid || s != uid {
		return fmt.Errorf("the uids are %d, %d, %d and not %d", r, e, s, uid)
	}
	if r, e, s := unix.Getresgid(); r != gid || e != gid || s != gid {
		return fmt.Errorf("the gids are %d, %d, %d and not %d", r, e, s, gid)
	}
	have, err := unix.Getgroups()
	if err != nil {
		return fmt.Errorf("getgroups: %w", err)
	}
	slices.Sort(have)
	want := make([]int, 0, len(groups))
	for _, g := range groups {
		want = append(want, int(g))
	}
	slices.Sort(want)
	if !slices.Equal(have, want) {
		return fmt.Errorf("the groups are %v and not %v", have, want)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var caps [2]unix.CapUserData
	if err := unix.Capget(&header, &caps[0]); err != nil {
		return fmt.Errorf("capget: %w", err)
	}
	if caps[0].Effective|caps[1].Effective|caps[0].Permitted|caps[1].Permitted != 0 {
		return errors.New("capabilities are left")
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, ^uintptr(0), 0, ^uintptr(0)); errno == 0 {
		return errors.New("root could be had again")
	}
	return nil
}
