package testcluster

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"syscall"

	"fulmen/daemon/api"
)

// The uids of people's accounts, as Linux counts them.
const (
	firstPerson = 1000
	lastPerson  = 59999
)

// Account is the account under which a cluster and its jobs run.
type Account struct {
	// Name, UID and GID are the account's.
	Name     string
	UID, GID uint32
	// Home is its home folder.
	Home string
	// Other says that it is not the account of this process, which is root.
	Other bool
}

// Someone is the account for jobs: this process's own; where that is root, the
// first person's who has a shell, or else nobody's. False where there is none.
func Someone() (Account, bool) {
	if os.Geteuid() != 0 {
		own, err := user.Current()
		if err != nil {
			return Account{}, false
		}
		return fromNumbers(own.Username, own.Uid, own.Gid, own.HomeDir)
	}
	file, err := os.Open("/etc/passwd")
	if err != nil {
		return Account{}, false
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Split(lines.Text(), ":")
		if len(fields) != 7 || !strings.HasSuffix(fields[6], "sh") {
			continue
		}
		if a, ok := fromNumbers(fields[0], fields[2], fields[3], fields[5]); ok && a.UID >= firstPerson && a.UID <= lastPerson {
			a.Other = true
			return a, true
		}
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return Account{}, false
	}
	a, ok := fromNumbers(nobody.Username, nobody.Uid, nobody.Gid, nobody.HomeDir)
	a.Other = true
	return a, ok
}

func fromNumbers(name, uid, gid, home string) (Account, bool) {
	u, err := strconv.ParseUint(uid, 10, 32)
	g, err2 := strconv.ParseUint(gid, 10, 32)
	return Account{Name: name, UID: uint32(u), GID: uint32(g), Home: home}, err == nil && err2 == nil
}

// Runs has a command run as the account, with a FULMEN_HOME where one is given.
func (a Account) Runs(c *exec.Cmd, home string) {
	if c.Env == nil {
		c.Env = os.Environ()
	}
	if home != "" {
		c.Env = append(c.Env, api.EnvHome+"="+home)
	}
	if !a.Other {
		return
	}
	c.Env = append(c.Env, "HOME="+a.Home, "USER="+a.Name, "LOGNAME="+a.Name)
	if c.Dir == "" {
		c.Dir = "/" // that of this process may be closed to the account
	}
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.Credential = &syscall.Credential{Uid: a.UID, Gid: a.GID}
}

// Owns gives files to the account.
func (a Account) Owns(paths ...string) error {
	if !a.Other {
		return nil
	}
	var errs []error
	for _, path := range paths {
		errs = append(errs, os.Lchown(path, int(a.UID), int(a.GID)))
	}
	return errors.Join(errs...)
}
