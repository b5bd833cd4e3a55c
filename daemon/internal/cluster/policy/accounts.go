package policy

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"runtime"
	"strconv"

	"fulmen/daemon/api"
)

// Account is one local account.
type Account struct {
	// Name is as the system spells it.
	Name string
	// UID is its number.
	UID uint32
}

// Accounts finds local accounts.
type Accounts interface {
	// Lookup finds an account by its name; false if there is none.
	Lookup(name string) (Account, bool, error)
}

// SystemAccounts are this machine's.
type SystemAccounts struct{}

// Lookup asks the system.
func (SystemAccounts) Lookup(name string) (Account, bool, error) {
	found, err := user.Lookup(name)
	if _, isUnknown := errors.AsType[user.UnknownUserError](err); isUnknown {
		return Account{}, false, nil
	}
	if err != nil {
		return Account{}, false, err
	}
	uid, err := strconv.ParseUint(found.Uid, 10, 32)
	if err != nil {
		return Account{}, false, fmt.Errorf("account %q has the user id %q: %w", name, found.Uid, err)
	}
	return Account{Name: found.Username, UID: uint32(uid)}, true, nil
}

// Bounds says which accounts jobs may run as.
type Bounds struct {
	// Daemon is the daemon's own uid. One that is not root's can start programs
	// as itself only.
	Daemon uint32
	// First is the lowest uid of people's accounts. Those below own the
	// system's services and what these keep secret; an account for jobs alone
	// can be made above as well, and needs a home folder anyway.
	First uint32
}

// The lowest uid that the systems give to people: macOS counts from 501,
// Linux from 1000 (UID_MIN of login.defs, as shadow and systemd ship it).
const (
	firstDarwin = 500
	firstLinux  = 1000
)

// The accounts that own nothing by agreement, so that services which trust
// nobody share them: nobody on Linux and, as -2, on macOS. Above them
// is only -1, which no account has.
const (
	nobodyLinux  = 65534
	nobodyDarwin = 1<<32 - 2
)

// SystemBounds are those of this machine and this process.
func SystemBounds() Bounds {
	first := uint32(firstLinux)
	if runtime.GOOS == "darwin" {
		first = firstDarwin
	}
	return Bounds{Daemon: uint32(os.Geteuid()), First: first}
}

// maxAccountName bounds the name of an account, in bytes.
const maxAccountName = 255

// Check finds an account and says why no job may run as it: it is not there
// (bad_value), it is root under whatever name, the system's own, or another one
// than a daemon can use that is not root (account_forbidden).
func (b Bounds) Check(accounts Accounts, name string) (Account, error) {
	if name == "" || len(name) > maxAccountName {
		return Account{}, api.Errorf(api.ReasonBadValue, "account", "the name of an account has 1 to %d characters", maxAccountName)
	}
	account, found, err := accounts.Lookup(name)
	switch {
	case err != nil:
		return Account{}, fmt.Errorf("look up the account %q: %w", name, err)
	case !found:
		return Account{}, api.Errorf(api.ReasonBadValue, "account", "there is no account %q on this Mac", name).
			WithRemedy("Name an account of this Mac.")
	case account.UID == 0:
		return Account{}, forbidden(name, "Choose an account other than root.", "%q is root, and jobs never run as root", name)
	case b.Daemon != 0 && account.UID != b.Daemon:
		return Account{}, forbidden(name, "Name that account, or install Fulmen as a system service.",
			"this daemon does not run as root, so jobs can run only as its own account, not as %q", name)
	case b.Daemon != 0:
		return account, nil
	case account.UID < b.First || account.UID == nobodyLinux || account.UID >= nobodyDarwin:
		return Account{}, forbidden(name, "Choose a person's account, or create one for jobs.",
			"%q (uid %d) belongs to the system, and jobs never run as such an account", name, account.UID)
	}
	return account, nil
}

func forbidden(name, remedy, format string, args ...any) error {
	return api.Errorf(api.ReasonAccountForbidden, name, format, args...).WithRemedy(remedy)
}
