package darwin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
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
	records unitrecord.Store
	uid     int
	ctl     launchctl
}

// launchctl runs launchctl and returns what it printed. A failure that launchctl
// tells is a *launchdError.
type launchctl func(ctx context.Context, args ...string) (string, error)

// launchdError is a refusal of launchd: the exit status of launchctl is the
// error's number, whose meaning `launchctl error` tells.
type launchdError struct {
	status int
	said   string
}

// Error has the number and launchd's words.
func (e *launchdError) Error() string {
	return fmt.Sprintf("launchd refused (%d): %s", e.status, strings.TrimSpace(e.said))
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
	return &supervisor{records: unitrecord.Store{Folder: folder}, uid: uid, ctl: ctl}
}

func (s *supervisor) domain() string {
	if s.uid == 0 {
		return "system"
	}
	return "user/" + strconv.Itoa(s.uid)
}

func (s *supervisor) service(label string) string { return s.domain() + "/" + label }

func (s *supervisor) plist(label string) string {
	return filepath.Join(s.records.Folder, label+".plist")
}

// about says which unit an error is about.
func about(label string, err error) error {
	if err == nil {
		return nil
	}
	return &native.ActionError{Action: native.FeatureSupervisor, Subject: label, Err: err}
}

// Start loads the unit's job, which starts it.
func (s *supervisor) Start(ctx context.Context, unit native.Unit) error {
	return about(unit.Label, s.start(ctx, unit))
}

func (s *supervisor) start(ctx context.Context, unit native.Unit) (err error) {
	if err := errors.Join(ctx.Err(), unitrecord.Check(unit)); err != nil {
		return err
	}
	if u := unit.User; u != nil && s.uid != 0 && int(u.UID) != s.uid {
		return fmt.Errorf("%w: only root runs a unit as %s", native.ErrPermission, u.Name)
	}
	if err := s.records.Add(unitrecord.Record{Label: unit.Label, Socket: unit.Socket, Unit: s.service(unit.Label)}); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(s.plist(unit.Label))
			err = errors.Join(err, s.records.Remove(unit.Label))
		}
	}()
	unit.Env = append(slices.Clone(unit.Env), unitrecord.Variable+"="+unit.Label)
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
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	records, err := s.records.List(prefix)
	units := make([]native.UnitStatus, 0, len(records))
	for _, r := range records {
		unit := native.UnitStatus{Label: r.Label, State: native.UnitEnded, Socket: r.Socket}
		pid, askErr := s.pid(ctx, r.Label)
		if askErr != nil {
			return units, about(r.Label, askErr)
		}
		if pid != 0 {
			unit.State, unit.PID = native.UnitRunning, pid
		}
		units = append(units, unit)
	}
	return units, err
}

// pid asks launchd for the unit's process; 0 when it has none.
func (s *supervisor) pid(ctx context.Context, label string) (int, error) {
	said, err := s.ctl(ctx, "print", s.service(label))
	if refusedBecause(err, launchdNoProcess, launchdNoService, launchdOtherDomain) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return printedPID(said), nil
}

// printedPID finds the process in what `launchctl print` says of a service: the
// line "pid = N" of the outermost block, which is there while it runs.
func printedPID(said string) int {
	for line := range strings.Lines(said) {
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

// Attach connects to the unit's socket.
func (s *supervisor) Attach(ctx context.Context, label string) (net.Conn, error) {
	conn, err := s.records.Attach(ctx, label)
	return conn, about(label, err)
}

// Remove kills the unit and makes launchd forget its job.
func (s *supervisor) Remove(ctx context.Context, label string) error {
	return about(label, s.remove(ctx, label))
}

func (s *supervisor) remove(ctx context.Context, label string) error {
	r, err := s.records.Get(label)
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
	for _, path := range []string{r.Socket, s.plist(label)} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return s.records.Remove(label)
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
			return fmt.Errorf("launchd does not forget it: %w", ctx.Err())
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
