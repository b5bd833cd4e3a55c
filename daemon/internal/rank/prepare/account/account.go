package account

import (
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
	"sync"
	"syscall"
	"time"

	"fulmen/daemon/api"
)

// Account is a local account that programs run as. It is never root.
type Account struct {
	// Name is as the system spells it.
	Name string
	// UID and GID are its number and that of its primary group.
	UID, GID uint32
	// Groups are all its groups, the primary one first, the others in ascending order.
	Groups []uint32
	// Home is its home folder; it need not exist.
	Home string
	// Shell is its login shell.
	Shell string
}

// Credential is what a process started by the uid own needs to become the
// account; nil where it is that account already. Becoming another account takes
// root's rights; without them it is refused.
func (a Account) Credential(own uint32) (*syscall.Credential, error) {
	switch {
	case a.UID == 0:
		return nil, forbidden(a.Name, "Choose an account other than root.", "%q is root, and jobs never run as root", a.Name)
	case own == a.UID:
		return nil, nil
	case own != 0:
		return nil, forbidden(a.Name, "Install Fulmen as a system service, or map to the daemon's own account.",
			"this daemon does not run as root and cannot start anything as %q", a.Name)
	}
	return &syscall.Credential{Uid: a.UID, Gid: a.GID, Groups: ordered(a.GID, a.Groups)}, nil
}

// endWithin is how long a process may hold its pipes after it was killed.
const endWithin = 5 * time.Second

// Command is a command of the daemon's own program, run as the account and with nothing of
// the daemon's environment. When ctx ends it is killed with all it started.
func (a Account) Command(ctx context.Context, program, command string) (*exec.Cmd, error) {
	credential, err := a.Credential(uint32(os.Geteuid()))
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, command)
	cmd.Env, cmd.Dir = []string{"PATH=/usr/bin:/bin", "HOME=" + a.Home, "LC_ALL=C"}, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: credential}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = endWithin
	return cmd, nil
}

// ordered puts the primary group first, since no system takes any number of them.
func ordered(primary uint32, others []uint32) []uint32 {
	others = slices.Clone(others)
	slices.Sort(others)
	others = slices.DeleteFunc(slices.Compact(others), func(g uint32) bool { return g == primary })
	all := append([]uint32{primary}, others...)
	return all[:min(len(all), maxGroups)]
}

// Book finds accounts. The zero value is ready; it may be used by many at once.
type Book struct {
	mu     sync.Mutex
	shells map[string]string
}

// Find asks the system for an account by its name. It is refused with an
// *api.Error where there is none (principal_unmapped), or where it is root, by
// whatever name (account_forbidden).
func (b *Book) Find(name string) (Account, error) {
	found, err := user.Lookup(name)
	if _, missing := errors.AsType[user.UnknownUserError](err); missing || name == "" {
		return Account{}, api.Errorf(api.ReasonPrincipalUnmapped, name, "there is no account %q on this Mac", name)
	}
	if err != nil {
		return Account{}, fmt.Errorf("look up the account %q: %w", name, err)
	}
	a := Account{Name: found.Username, Home: found.HomeDir}
	if a.UID, err = number(found.Uid); err != nil {
		return Account{}, err
	}
	if a.GID, err = number(found.Gid); err != nil {
		return Account{}, err
	}
	if a.UID == 0 {
		return Account{}, forbidden(name, "Choose an account other than root.", "%q is root, and jobs never run as root", name)
	}
	groups, err := found.GroupIds()
	if err != nil {
		return Account{}, fmt.Errorf("look up the groups of %q: %w", name, err)
	}
	for _, text := range groups {
		group, err := number(text)
		if err != nil {
			return Account{}, err
		}
		a.Groups = append(a.Groups, group)
	}
	a.Groups = ordered(a.GID, a.Groups)
	if !filepath.IsAbs(a.Home) {
		a.Home = "/"
	}
	a.Shell = b.shell(a.Name)
	return a, nil
}

// shell is the account's login shell. One that had to be asked of another
// program is asked for once.
func (b *Book) shell(name string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if shell, known := b.shells[name]; known {
		return shell
	}
	shell, keep := loginShell(name)
	if !filepath.IsAbs(shell) {
		return defaultShell
	}
	if keep {
		if b.shells == nil {
			b.shells = map[string]string{}
		}
		b.shells[name] = shell
	}
	return shell
}

func number(text string) (uint32, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("the number of an account or group: %w", err)
	}
	return uint32(n), nil
}

func forbidden(name, remedy, format string, args ...any) error {
	return api.Errorf(api.ReasonAccountForbidden, name, format, args...).WithRemedy(remedy)
}

// shellOf finds an account's shell in text that has the form of passwd(5).
func shellOf(text, name string) string {
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimRight(line, "\r\n"), ":")
		if len(fields) == 7 && fields[0] == name {
			return fields[6]
		}
	}
	return ""
}

// shellOfRecord finds the shell in what dscl prints of an account: the key and
// its value on one line, or the value on the next where it has a space.
func shellOfRecord(text string) string {
	_, value, _ := strings.Cut(text, "UserShell:")
	value, _, _ = strings.Cut(strings.TrimSpace(value), "\n")
	return strings.TrimSpace(value)
}
