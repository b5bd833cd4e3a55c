package linux

import (
	"errors"
	"os"
	"slices"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"fulmen/native/unitrecord"
)

// process is one of /proc, as far as a supervisor cares.
type process struct {
	procfs.ProcStat
	entry procfs.Proc
}

// over reports whether it has ended and only waits to be reaped.
func (p process) over() bool { return p.State == "Z" || p.State == "X" }

func readProcess(pid int) (process, bool) {
	entry, err := procfs.NewProc(pid)
	if err != nil {
		return process{}, false
	}
	stat, err := entry.Stat()
	return process{stat, entry}, err == nil
}

// processes lists all that runs, without what has ended.
func processes() []process {
	entries, err := procfs.AllProcs()
	if err != nil {
		return nil
	}
	var all []process
	for _, entry := range entries {
		if p, ok := readProcess(entry.PID); ok && !p.over() {
			all = append(all, p)
		}
	}
	return all
}

// marked reports whether the process was started with the unit's variable; that of
// somebody else is not told.
func (p process) marked(label string) bool {
	environ, err := p.entry.Environ()
	return err == nil && slices.Contains(environ, unitrecord.Variable+"="+label)
}

// markedProcesses lists the processes that bear the unit's variable.
func markedProcesses(label string) []process {
	return slices.DeleteFunc(processes(), func(p process) bool { return !p.marked(label) })
}

// unitProcesses lists what belongs to the unit besides its first process (0:
// there is none): what is below that, and what bears the variable.
func unitProcesses(label string, first int) []int {
	all := processes()
	below := map[int]bool{}
	if first != 0 {
		below[first] = true
	}
	for grew := true; grew; {
		grew = false
		for _, p := range all {
			if below[p.PPID] && !below[p.PID] {
				below[p.PID], grew = true, true
			}
		}
	}
	var rest []int
	for _, p := range all {
		if p.PID != first && p.PID != os.Getpid() && (below[p.PID] || p.marked(label)) {
			rest = append(rest, p.PID)
		}
	}
	return rest
}

// maxWaiting is how many connections may wait for a unit that is just starting.
const maxWaiting = 16

// openSocket opens a unit's socket for the daemon's own account and root alone. Who
// connects from then on waits for the unit, and hears of its end at once should it
// never come to accepting: nobody has to look whether it listens by now.
func openSocket(path string) (*os.File, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	file := os.NewFile(uintptr(fd), path)
	address := &unix.SockaddrUnix{Name: path}
	err = unix.Bind(fd, address)
	if errors.Is(err, unix.EADDRINUSE) { // of a unit that was killed, and forgotten
		if err = os.Remove(path); err == nil {
			err = unix.Bind(fd, address)
		}
	}
	if err != nil {
		return nil, errors.Join(os.NewSyscallError("bind", err), file.Close())
	}
	// Until it listens nobody can connect, whatever the umask has let its mode be.
	if err = errors.Join(os.Chmod(path, 0o600), os.NewSyscallError("listen", unix.Listen(fd, maxWaiting))); err != nil {
		return nil, errors.Join(err, file.Close(), os.Remove(path))
	}
	return file, nil
}
