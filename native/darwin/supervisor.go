package darwin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"fulmen/native"
	"fulmen/native/plist"
	"fulmen/native/unitrecord"
)

const (
	// forgetWithin bounds how long launchd may take to forget a job.
	forgetWithin = 20 * time.Second
	// askAgain is between two questions whether it has.
	askAgain = 20 * time.Millisecond
)

// supervisor runs units as transient launchd jobs: in the system's domain for
// root, else in the account's own.
type supervisor struct {
	unitrecord.Store
	uid int
	ctl launchctl
}

// launchctl runs launchctl and returns what it printed. A failure that launchctl
// tells is a *launchdError.
type launchctl func(ctx context.Context, args ...string) (string, error)

// launchdError is a refusal of launchd: the exit status of launchctl is the
// error's number, whose meaning `launchctl error` tells.
type launchdError struct {
	status int
	output string
}

// Error has the number and launchd's words.
func (e *launchdError) Error() string {
	return fmt.Sprintf("launchd refused (%d): %s", e.status, strings.TrimSpace(e.output))
}

// The numbers that mean something here: errno where launchd passes one on, and
// its own for a service that it does not know.
const (
	launchdNoProcess   = 3
	launchdExists      = 17
	launchdInProgress  = 36
	launchdAlready     = 37
	launchdNoService   = 113
	launchdOtherDomain = 125
)

func refusedBecause(err error, numbers ...int) bool {
	refusal, ok := errors.AsType[*launchdError](err)
	return ok && slices.Contains(numbers, refusal.status)
}

func newSupervisor(o Options, uid int, home string, ctl launchctl) *supervisor {
	folder := o.Units
	switch {
	case folder != "":
	case uid == 0:
		folder = "/var/run/fulmen/units"
	default:
		folder = filepath.Join(home, "Library", "Caches", "Fulmen", "units")
	}
	return &supervisor{Store: unitrecord.Store{Folder: folder}, uid: uid, ctl: ctl}
}

func (s *supervisor) domain() string {
	if s.uid == 0 {
		return "system"
	}
	return "user/" + strconv.Itoa(s.uid)
}

func (s *supervisor) service(label string) string { return s.domain() + "/" + label }

func (s *supervisor) plist(label string) string {
	return filepath.Join(s.Store.Folder, label+".plist")
}

// Start loads the unit's job, which starts it.
func (s *supervisor) Start(ctx context.Context, unit native.Unit) error {
	return s.Store.Start(ctx, unit, unitrecord.Record{Unit: s.service(unit.Label)}, func() error {
		unit.Env = append(slices.Clone(unit.Env), unitrecord.Variable+"="+unit.Label)
		err := s.load(ctx, unit)
		if err != nil {
			_ = os.Remove(s.plist(unit.Label))
		}
		return err
	})
}

func (s *supervisor) load(ctx context.Context, unit native.Unit) error {
	if u := unit.User; u != nil && s.uid != 0 && int(u.UID) != s.uid {
		return fmt.Errorf("%w: only root can run a program as %s", native.ErrPermission, u.Name)
	}
	if err := openLog(unit, s.uid); err != nil {
		return err
	}
	job, err := launchdJob(unit, s.uid == 0)
	if err != nil {
		return err
	}
	// launchd takes a list only from a file that its owner alone can change.
	if err := os.WriteFile(s.plist(unit.Label), job, 0o600); err != nil {
		return err
	}
	_, err = s.ctl(ctx, "bootstrap", s.domain(), s.plist(unit.Label))
	if refusedBecause(err, launchdExists, launchdAlready) {
		return errors.Join(native.ErrExists, err)
	}
	return err
}

// openLog makes the log before launchd opens it, for the account that will write
// it.
func openLog(unit native.Unit, uid int) error {
	log, err := os.OpenFile(unit.ErrorLog, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if uid == 0 && unit.User != nil {
		err = log.Chown(int(unit.User.UID), int(unit.User.GID))
	}
	return errors.Join(err, log.Close())
}

// List returns the units of this store.
func (s *supervisor) List(ctx context.Context, prefix string) ([]native.UnitStatus, error) {
	return s.Store.Units(ctx, prefix, s.pid)
}

// pid asks launchd for the unit's process; 0 when it has none.
func (s *supervisor) pid(ctx context.Context, r unitrecord.Record) (int, error) {
	output, err := s.ctl(ctx, "print", s.service(r.Label))
	if refusedBecause(err, launchdNoProcess, launchdNoService, launchdOtherDomain) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return printedPID(output), nil
}

// printedPID finds the process in what `launchctl print` says of a service: the
// line "pid = N" of the outermost block, which is there while it runs.
func printedPID(output string) int {
	for line := range strings.Lines(output) {
		inner, ok := strings.CutPrefix(line, "\t")
		value, is := strings.CutPrefix(inner, "pid = ")
		if !ok || !is {
			continue
		}
		if pid, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && pid > 0 {
			return pid
		}
	}
	return 0
}

// Remove kills the unit and makes launchd forget its job.
func (s *supervisor) Remove(ctx context.Context, label string) error {
	return unitrecord.About(label, s.remove(ctx, label))
}

func (s *supervisor) remove(ctx context.Context, label string) error {
	r, err := s.Store.Get(label)
	if err != nil {
		return err
	}
	gone := []int{launchdNoProcess, launchdNoService, launchdOtherDomain}
	// At once: bootout alone would begin with SIGTERM and wait.
	if _, err := s.ctl(ctx, "kill", "SIGKILL", s.service(label)); err != nil && !refusedBecause(err, gone...) {
		return err
	}
	if _, err := s.ctl(ctx, "bootout", s.service(label)); err != nil && !refusedBecause(err, append(gone, launchdInProgress)...) {
		return err
	}
	if err := s.forgotten(ctx, label); err != nil {
		return err
	}
	return s.Store.Discard(label, r.Socket, s.plist(label))
}

// forgotten waits until launchd knows the job no more; bootout can return before.
func (s *supervisor) forgotten(ctx context.Context, label string) error {
	ctx, cancel := context.WithTimeout(ctx, forgetWithin)
	defer cancel()
	// launchd announces the end of a job to nobody.
	tick := time.NewTicker(askAgain)
	defer tick.Stop()
	for {
		_, err := s.ctl(ctx, "print", s.service(label))
		if refusedBecause(err, launchdNoProcess, launchdNoService, launchdOtherDomain) {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("launchd still has the job: %w", ctx.Err())
		case <-tick.C:
		}
	}
}

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
		var stdout, failed bytes.Buffer
		command := exec.CommandContext(ctx, path, args...)
		command.Stdout, command.Stderr = &stdout, &failed
		err := command.Run()
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() {
			return "", &launchdError{status: exit.ExitCode(), output: failed.String()}
		}
		return stdout.String(), err
	}
}
