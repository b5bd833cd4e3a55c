package look

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

const (
	// ShellTime is how long reading the environment of a login shell may take.
	ShellTime = 5 * time.Second
	maxShell  = 1 << 20
	// maxComplaints is how much is kept of what a program says on standard error.
	maxComplaints = 4 << 10
	// shellPart is the shell's own part of it: the rest is for saying that it was not done.
	shellPart = 0.9
)

// readShell answers [OpEnvironment]: it runs the login shell, which runs this
// program again to print what it was given. So no tool of the system, alias or
// function comes between, and quoting is all that shells must agree on.
func readShell(r Request) (Answer, error) {
	a := Answer{Stamp: ShellStamp(r.Home)}
	mark := "fulmen-" + rand.Text()
	own, err := ownPath()
	if err != nil {
		return a, err
	}
	allowed := time.Duration(r.DeadlineS * shellPart * float64(time.Second))
	ctx, cancel := context.WithTimeoutCause(context.Background(), allowed, fmt.Errorf("was not done after %s", allowed))
	defer cancel()
	command := shellCommand(r.Shell, fmt.Sprintf("'%s' look %s", own, mark))
	command.Env = r.Env
	if readable(r.Home) == nil {
		command.Dir = r.Home
	}
	complaints := Head{Limit: maxComplaints}
	command.Stderr = &complaints
	text, err := runUntil(ctx, command, mark)
	if err != nil {
		return a, fmt.Errorf("the login shell %s %w%s", r.Shell, err, quoted(complaints.String()))
	}
	a.Env = cleanEnvironment(strings.Split(text, "\x00"))
	if runtime.GOOS == "darwin" && !slices.ContainsFunc(a.Env, func(e string) bool { return strings.HasPrefix(e, "TMPDIR=") }) {
		a.Env = append(a.Env, temporary(ctx)...)
	}
	return a, nil
}

// ownPath is how another process of the account runs this program, in quotes that
// all shells know.
func ownPath() (string, error) {
	if runtime.GOOS == "linux" {
		// Also where the file was replaced, or lies where the account cannot go.
		return fmt.Sprintf("/proc/%d/exe", os.Getpid()), nil
	}
	path, err := os.Executable()
	if err == nil && strings.ContainsAny(path, `'\`) {
		err = errors.New("the path of fulmen-shim has a quote or a backslash")
	}
	return path, err
}

// shellCommand runs a line in a login shell. What takes -l is told so; csh takes
// it only alone, and old ones of sh not at all: they know by the hyphen before
// their name.
func shellCommand(shell, line string) *exec.Cmd {
	command := &exec.Cmd{Path: shell}
	switch base := filepath.Base(shell); base {
	case "bash", "zsh", "fish", "ksh":
		command.Args = []string{shell, "-l", "-c", line}
	default:
		command.Args = []string{"-" + base, "-c", line}
	}
	return command
}

// runUntil runs a command until it has printed what lies between two marks. What
// it leaves running in the background is not waited for: it ends with this process.
func runUntil(ctx context.Context, command *exec.Cmd, mark string) (string, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer r.Close()
	command.Stdout, command.WaitDelay = w, time.Second
	err = command.Start()
	_ = w.Close()
	if err != nil {
		return "", fmt.Errorf("cannot be started: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	type read struct {
		text  string
		found bool
	}
	done := make(chan read, 1)
	go func() {
		var text strings.Builder
		buffer := make([]byte, 32<<10)
		for {
			n, err := r.Read(buffer)
			text.Write(buffer[:n])
			if strings.Contains(text.String(), mark) {
				if between, found := between(text.String(), mark); found {
					done <- read{between, true}
					return
				}
			}
			if err != nil || text.Len() > maxShell {
				done <- read{}
				return
			}
		}
	}()
	select {
	case got := <-done:
		if got.found {
			return got.text, nil
		}
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	select {
	case err = <-ended:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	if err != nil {
		return "", fmt.Errorf("failed: %w", err)
	}
	return "", errors.New("ended without running what it was given")
}

// printEnvironment is what a login shell runs.
func printEnvironment(out io.Writer, mark string) error {
	if !strings.HasPrefix(mark, "fulmen-") {
		return errors.New("it takes a request on its standard input")
	}
	_, err := io.WriteString(out, mark+strings.Join(os.Environ(), "\x00")+mark)
	return err
}

// cleanEnvironment drops what is no variable (functions that bash exports), what
// only the shell itself meant, and of two with one name the first.
func cleanEnvironment(entries []string) []string {
	values := map[string]string{}
	for _, entry := range entries {
		if name, value, ok := strings.Cut(entry, "="); ok && isVariable(name) {
			values[name] = value
		}
	}
	for _, name := range []string{"_", "SHLVL", "PWD", "OLDPWD", "TERM"} {
		delete(values, name)
	}
	out := make([]string, 0, len(values))
	for name, value := range values {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

func isVariable(name string) bool {
	for i, c := range name {
		letter := c == '_' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// temporary is the account's own folder for temporary files, which macOS gives
// to programs of a login session only by itself.
func temporary(ctx context.Context) []string {
	out, err := exec.CommandContext(ctx, "/usr/bin/getconf", "DARWIN_USER_TEMP_DIR").Output()
	if path := strings.TrimSpace(string(out)); err == nil && filepath.IsAbs(path) {
		return []string{"TMPDIR=" + path}
	}
	return nil
}

// ShellStamp changes when one of the files changes that login shells read by
// custom, below a home folder and of the system. What those read in turn is not seen.
func ShellStamp(home string) string {
	paths := []string{
		"/etc/profile", "/etc/profile.d", "/etc/environment", "/etc/paths", "/etc/paths.d", "/etc/bashrc", "/etc/bash.bashrc",
		"/etc/zshenv", "/etc/zprofile", "/etc/zlogin", "/etc/zsh/zshenv", "/etc/zsh/zprofile", "/etc/zsh/zlogin", "/etc/csh.login",
	}
	for _, name := range []string{
		".profile", ".bash_profile", ".bash_login", ".bashrc", ".zshenv", ".zprofile", ".zlogin", ".login", ".cshrc", ".tcshrc",
		".config/fish/config.fish", ".config/fish/conf.d", ".config/fish/fish_variables",
	} {
		paths = append(paths, filepath.Join(home, name))
	}
	return stampOf(paths...)
}
