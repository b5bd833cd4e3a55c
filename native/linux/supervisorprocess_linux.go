package linux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"fulmen/native"
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

// detach starts the unit in a session of its own and returns its process. It
// stays a child of the daemon for as long as that lives, and is init's then:
// nothing of the daemon's end reaches it. [supervisor.first] reaps it.
func detach(unit native.Unit) (pid int, err error) {
	log, err := os.OpenFile(unit.ErrorLog, os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return 0, err
	}
	defer log.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	sys := &syscall.SysProcAttr{Setsid: true}
	if unit.User != nil && int(unit.User.UID) != os.Geteuid() {
		if sys.Credential, err = credential(*unit.User); err != nil {
			return 0, err
		}
	}
	files, env := []uintptr{null.Fd(), log.Fd(), log.Fd()}, unit.Env
	if unit.TakesSocket {
		socket, err := openSocket(unit.Socket)
		if err != nil {
			return 0, err
		}
		defer socket.Close()
		env = append(slices.Clone(env), unitrecord.SocketVariable+"="+strconv.Itoa(len(files)))
		files = append(files, socket.Fd())
	}
	pid, err = syscall.ForkExec(unit.Program, append([]string{unit.Program}, unit.Args...), &syscall.ProcAttr{
		Dir: unit.Dir, Env: env, Files: files, Sys: sys,
	})
	if err != nil {
		if unit.TakesSocket {
			_ = os.Remove(unit.Socket)
		}
		return 0, fmt.Errorf("start %s: %w", unit.Program, err)
	}
	return pid, nil
}

// credential is the account with its groups, as initgroups would have them.
func credential(a native.Account) (*syscall.Credential, error) {
	c := &syscall.Credential{Uid: a.UID, Gid: a.GID, Groups: []uint32{a.GID}}
	known, err := user.Lookup(a.Name)
	if err != nil {
		return nil, err
	}
	if known.Uid != strconv.FormatUint(uint64(a.UID), 10) {
		return nil, fmt.Errorf("the account %s has the uid %s and not %d", a.Name, known.Uid, a.UID)
	}
	ids, err := known.GroupIds()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if g, err := strconv.ParseUint(id, 10, 32); err == nil && uint32(g) != a.GID {
			c.Groups = append(c.Groups, uint32(g))
		}
	}
	return c, nil
}

// systemd is the manager that runs units as transient services: the system's for
// root, else the account's own.
type systemd struct {
	user bool
	// run runs a command and returns what it printed.
	run func(ctx context.Context, name string, args ...string) (string, error)
}

// findSystemd returns the manager, or nil where none runs: the folder is how
// sd_booted(3) tells, the socket how a user's manager does.
func findSystemd() *systemd {
	user := os.Geteuid() != 0
	if _, err := os.Stat("/run/systemd/system"); err != nil {
		return nil
	}
	if user {
		if _, err := os.Stat(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "systemd", "private")); err != nil {
			return nil
		}
	}
	for _, tool := range []string{"systemd-run", "systemctl"} {
		if _, err := exec.LookPath(tool); err != nil {
			return nil
		}
	}
	return &systemd{user: user, run: runTool}
}

func runTool(ctx context.Context, name string, args ...string) (string, error) {
	var said, failed bytes.Buffer
	command := exec.CommandContext(ctx, name, args...)
	command.Stdout, command.Stderr = &said, &failed
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(failed.String()))
	}
	return said.String(), nil
}

// start runs the unit and returns its first process, 0 where it has ended by then.
func (s *systemd) start(ctx context.Context, unit native.Unit) (pid int, err error) {
	if _, err := s.run(ctx, "systemd-run", s.startArgs(unit)...); err != nil {
		return 0, err
	}
	said, err := s.run(ctx, "systemctl", s.args("show", "--property=MainPID", "--value", unit.Label+".service")...)
	if err != nil {
		return 0, err
	}
	pid, err = strconv.Atoi(strings.TrimSpace(said))
	if err != nil {
		return 0, fmt.Errorf("systemctl show: %q is not a process", said)
	}
	return pid, nil
}

// startArgs are the arguments of systemd-run. A service of type exec is there
// when the program was executed; the whole control group goes when the first
// process does, and nothing is started again.
func (s *systemd) startArgs(unit native.Unit) []string {
	args := s.args("--quiet", "--collect", "--unit="+unit.Label+".service", "--service-type=exec",
		"--property=KillMode=control-group", "--property=Restart=no", "--property=OOMPolicy=continue",
		"--property=StandardInput=null", "--property=StandardOutput=append:"+unit.ErrorLog, "--property=StandardError=append:"+unit.ErrorLog,
		"--working-directory="+unit.Dir)
	if u := unit.User; u != nil {
		args = append(args, "--uid="+strconv.FormatUint(uint64(u.UID), 10), "--gid="+strconv.FormatUint(uint64(u.GID), 10))
	}
	for _, pair := range unit.Env {
		args = append(args, "--setenv="+pair)
	}
	args = append(args, "--", unit.Program)
	for _, arg := range unit.Args {
		args = append(args, strings.ReplaceAll(arg, "$", "$$")) // systemd would expand it
	}
	return args
}

// kill kills every process of the unit's control group.
func (s *systemd) kill(ctx context.Context, unit string) error {
	_, err := s.run(ctx, "systemctl", s.args("kill", "--signal=SIGKILL", unit)...)
	return err
}

func (s *systemd) args(args ...string) []string {
	if s.user {
		return append([]string{"--user"}, args...)
	}
	return args
}
