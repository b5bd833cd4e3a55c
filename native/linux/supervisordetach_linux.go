package linux

import (
	"fmt"
	"os"
	"os/user"
	"slices"
	"strconv"
	"syscall"

	"fulmen/native"
	"fulmen/native/unitrecord"
)

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
