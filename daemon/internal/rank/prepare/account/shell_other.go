//go:build !darwin

package account

import (
	"context"
	"os"
	"os/exec"
	"time"
)

// maxGroups is NGROUPS_MAX: setgroups takes no more.
const maxGroups = 65536

// defaultShell is what passwd(5) says an empty field means.
const defaultShell = "/bin/sh"

// loginShell reads /etc/passwd; what only a directory service knows is asked of getent.
func loginShell(name string) (shell string, keep bool) {
	text, err := os.ReadFile("/etc/passwd")
	if shell := shellOf(string(text), name); err == nil && shell != "" {
		return shell, false
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	command := exec.CommandContext(ctx, "/usr/bin/getent", "passwd", name)
	command.Env = []string{}
	command.WaitDelay = time.Second
	out, err := command.Output()
	if err != nil {
		return "", false
	}
	return shellOf(string(out), name), true
}
