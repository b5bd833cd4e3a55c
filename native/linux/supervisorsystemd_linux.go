package linux

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"fulmen/native"
)

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
	var stdout, failed bytes.Buffer
	command := exec.CommandContext(ctx, name, args...)
	command.Stdout, command.Stderr = &stdout, &failed
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(failed.String()))
	}
	return stdout.String(), nil
}

// start runs the unit and returns its first process, 0 where it has ended by then.
func (s *systemd) start(ctx context.Context, unit native.Unit) (pid int, err error) {
	if _, err := s.run(ctx, "systemd-run", s.startArgs(unit)...); err != nil {
		return 0, err
	}
	stdout, err := s.run(ctx, "systemctl", s.args("show", "--property=MainPID", "--value", unit.Label+".service")...)
	if err != nil {
		return 0, err
	}
	pid, err = strconv.Atoi(strings.TrimSpace(stdout))
	if err != nil {
		return 0, fmt.Errorf("systemctl show: %q is not a process", stdout)
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
