package linux

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"fulmen/native/unitrecord"
)

// process is one line of /proc, as far as a supervisor cares.
type process struct {
	pid, parent int
	state       byte
	started     uint64 // clock ticks since the boot
}

// over reports whether it has ended and only waits to be reaped.
func (p process) over() bool { return p.state == 'Z' || p.state == 'X' }

func readProcess(pid int) (process, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	p, ok := parseProcess(text)
	p.pid = pid
	return p, ok
}

// parseProcess reads /proc/PID/stat. The name is in parentheses and can hold
// anything; of what follows it the fields 3, 4 and 22 count (proc(5)).
func parseProcess(text []byte) (process, bool) {
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 || len(fields[0]) != 1 {
		return process{}, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	if err != nil {
		return process{}, false
	}
	started, err := strconv.ParseUint(string(fields[19]), 10, 64)
	return process{state: fields[0][0], parent: parent, started: started}, err == nil
}

// processes lists all that runs, without what has ended.
func processes() []process {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var all []process
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if p, ok := readProcess(pid); ok && !p.over() {
			all = append(all, p)
		}
	}
	return all
}

// marked reports whether the process was started with the unit's variable.
func (p process) marked(label string) bool {
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/environ")
	if err != nil {
		return false // somebody else's
	}
	want := []byte(unitrecord.Variable + "=" + label)
	for pair := range bytes.SplitSeq(environ, []byte{0}) {
		if bytes.Equal(pair, want) {
			return true
		}
	}
	return false
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
			if below[p.parent] && !below[p.pid] {
				below[p.pid], grew = true, true
			}
		}
	}
	var rest []int
	for _, p := range all {
		if p.pid != first && p.pid != os.Getpid() && (below[p.pid] || p.marked(label)) {
			rest = append(rest, p.pid)
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
