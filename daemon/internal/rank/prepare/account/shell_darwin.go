package account

import (
	"context"
	"os/exec"
	"time"
)

// maxGroups is NGROUPS_MAX: setgroups takes no more. The system's own groups,
// which have low numbers, are kept.
const maxGroups = 16

// defaultShell is what the system gives to new accounts.
const defaultShell = "/bin/zsh"

// loginShell asks Open Directory, where macOS keeps accounts; /etc/passwd is
// not used there. Package os/user does not tell the shell.
func loginShell(name string) (shell string, keep bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	command := exec.CommandContext(ctx, "/usr/bin/dscl", "/Search", "-read", "/Users/"+name, "UserShell")
	command.Env = []string{}
	command.WaitDelay = time.Second
	out, err := command.Output()
	if err != nil {
		return "", false
	}
	return shellOfRecord(string(out)), true
}
