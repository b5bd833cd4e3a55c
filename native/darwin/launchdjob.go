package darwin

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"

	"fulmen/native"
	"fulmen/native/plist"
)

// launchdJob writes a unit as the property list of a launchd job (launchd.plist(5)).
// A job in the system's domain becomes the unit's account with its groups; in an
// account's own domain it is that account already. It runs once, when it is
// loaded, and launchd kills its process group when its first process has ended.
func launchdJob(unit native.Unit, system bool) ([]byte, error) {
	job := map[string]any{
		"Label":                unit.Label,
		"ProgramArguments":     append([]string{unit.Program}, unit.Args...),
		"EnvironmentVariables": variables(unit.Env),
		"WorkingDirectory":     unit.Dir,
		"StandardInPath":       "/dev/null",
		"StandardOutPath":      unit.ErrorLog,
		"StandardErrorPath":    unit.ErrorLog,
		"RunAtLoad":            true,
		"KeepAlive":            false,
		"AbandonProcessGroup":  false,
		// Neither its processor time nor its disk is throttled for the sake of
		// what is on the screen.
		"ProcessType": "Interactive",
		// Between SIGTERM and SIGKILL when the Mac shuts down, in seconds.
		"ExitTimeOut": 15,
	}
	if system && unit.User != nil {
		job["UserName"], job["InitGroups"] = unit.User.Name, true
	}
	return plist.Write(job)
}

// variables are the names and values of an environment.
func variables(env []string) map[string]any {
	list := map[string]any{}
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		list[name] = value
	}
	return list
}

// launchctlAt is the launchctl that lies at a path.
func launchctlAt(path string) launchctl {
	return func(ctx context.Context, args ...string) (string, error) {
		var said, failed bytes.Buffer
		command := exec.CommandContext(ctx, path, args...)
		command.Stdout, command.Stderr = &said, &failed
		err := command.Run()
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() {
			return "", &launchdError{status: exit.ExitCode(), said: failed.String()}
		}
		return said.String(), err
	}
}
