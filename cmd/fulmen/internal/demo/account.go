package demo

import (
	"cmp"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"

	"fulmen/daemon/api"
)

// nobodyUID is the number of the account nobody on Linux, where it has another
// name.
const nobodyUID = "65534"

// Account is the account under which the daemons run, and the jobs of all members.
type Account struct {
	// Name is the account's; empty: there is none as which jobs may run, and the
	// daemons run as this process does.
	Name string

	home       string
	credential *syscall.Credential // nil: this process's own
}

// OwnAccount is the account of this process. Where that is root, as which no job
// runs, it is the one that called sudo, else nobody's.
func OwnAccount() Account {
	if os.Geteuid() != 0 {
		own, err := user.Current()
		if err != nil {
			return Account{}
		}
		if _, err := user.Lookup(own.Username); err != nil {
			return Account{} // jobs would not find it either
		}
		return Account{Name: own.Username, home: own.HomeDir}
	}
	for _, find := range []func() (*user.User, error){
		func() (*user.User, error) { return user.Lookup(os.Getenv("SUDO_USER")) },
		func() (*user.User, error) { return user.Lookup("nobody") },
		func() (*user.User, error) { return user.LookupId(nobodyUID) },
	} {
		u, err := find()
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil || err2 != nil || uid == 0 {
			continue
		}
		a := Account{Name: u.Username, home: u.HomeDir, credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		if a.Passes("/") {
			return a
		}
	}
	return Account{}
}

// Passes reports whether a program of the account can be in a folder. In a
// container that has one account only, none can be of another.
func (a Account) Passes(folder string) bool {
	c := exec.Command("/bin/sh", "-c", ":")
	a.runs(c)
	c.Dir = folder
	return c.Run() == nil
}

// runs has a program run as the account, with more variables in its environment.
func (a Account) runs(c *exec.Cmd, variables ...string) {
	c.Env = append(os.Environ(), variables...)
	if a.credential == nil {
		return
	}
	c.Env = append(c.Env, "HOME="+a.home, "USER="+a.Name, "LOGNAME="+a.Name)
	c.Dir = "/" // that of this process may be closed to the account
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.Credential = a.credential
}

// Owns gives a file to the account.
func (a Account) Owns(path string) error {
	if a.credential == nil {
		return nil
	}
	return os.Lchown(path, int(a.credential.Uid), int(a.credential.Gid))
}

// caller is who asks daemons of the account from this process, at one of them.
func (a Account) caller(at api.NodeID) (who api.Principal, isOther bool) {
	if a.credential == nil {
		return api.Principal{}, false
	}
	name := strconv.Itoa(os.Geteuid())
	if own, err := user.LookupId(name); err == nil {
		name = own.Username
	}
	return api.Principal{User: cmp.Or(name, "root"), Node: at}, true
}
