package linux

import (
	"fmt"
	"io"
	"os"
	"os/user"
	"strconv"
	"strings"
	"syscall"

	"fulmen/native"
)

// detachScript starts the program as a child of a shell that ends at once, so
// that it belongs to init: it outlives the daemon, and its end leaves no zombie.
const detachScript = `"$@" >&2 & echo $!`

// detach starts the unit in a session of its own and returns its process.
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
	r, w, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	sys := &syscall.SysProcAttr{Setsid: true}
	if unit.User != nil && int(unit.User.UID) != os.Geteuid() {
		if sys.Credential, err = credential(*unit.User); err != nil {
			w.Close()
			return 0, err
		}
	}
	shell, err := os.StartProcess("/bin/sh", append([]string{"sh", "-c", detachScript, "sh", unit.Program}, unit.Args...), &os.ProcAttr{
		Dir: unit.Dir, Env: unit.Env, Files: []*os.File{null, w, log}, Sys: sys,
	})
	w.Close()
	if err != nil {
		return 0, err
	}
	said, err := io.ReadAll(io.LimitReader(r, 64))
	if state, waitErr := shell.Wait(); waitErr == nil && !state.Success() {
		return 0, fmt.Errorf("the shell that starts it: %s", state)
	}
	if err != nil {
		return 0, err
	}
	if pid, err = strconv.Atoi(strings.TrimSpace(string(said))); err != nil {
		return 0, fmt.Errorf("the shell that starts it said %q", said)
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
