package lifecycle

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/home"
	"fulmen/daemon/internal/proc"
	"fulmen/native"
)

// starts is a supervisor that keeps what it was told to start.
type starts struct {
	native.Supervisor
	programs []string
}

func (s *starts) Start(_ context.Context, unit native.Unit) error {
	s.programs = append(s.programs, unit.Program)
	return nil
}

// What root is about to start is looked at each time: a program that was fine and is
// not any more is not started, neither as a rank's shim nor as a worker.
func TestTrustedPrograms(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can make files of other accounts")
	}
	is := is.New(t)
	clock, err := native.SystemClock()
	is.NoErr(err)
	program := filepath.Join(t.TempDir(), "program")
	ran := filepath.Join(t.TempDir(), "ran")
	is.NoErr(os.WriteFile(program, []byte("#!/bin/sh\n: > "+ran+"\n"), 0o755))
	reported := 0
	trust := Trust{Folders: home.Folders{Mode: api.ModeSystem}, Clock: clock, Refused: func(string) { reported++ }}
	kept := &starts{}
	start := func() error { return trust.Supervisor(kept).Start(t.Context(), native.Unit{Program: program}) }
	launch := func() proc.Record { return trust.Launch(t.Context(), proc.Command{Path: program}) }

	is.NoErr(start())
	is.True(launch().Outcome != proc.NotStarted)
	_, err = os.Stat(ran)
	is.NoErr(err)
	is.NoErr(os.Remove(ran))

	is.NoErr(os.Chmod(program, 0o777))
	is.True(errors.Is(start(), api.ReasonInsecurePermissions))
	is.Equal(kept.programs, []string{program})
	is.Equal(reported, 1)
	record := launch()
	is.Equal(record.Outcome, proc.NotStarted)
	is.True(errors.Is(record.StartErr, api.ReasonInsecurePermissions))
	is.Equal(record.Sentence, record.StartErr.Error())
	_, err = os.Stat(ran)
	is.True(errors.Is(err, os.ErrNotExist))

	// A trial and a user's own daemon protect nobody from themselves.
	for _, folders := range []home.Folders{{Mode: api.ModeSystem, IsTrial: true}, {Mode: api.ModeUser}} {
		trust.Folders = folders
		is.NoErr(start())
		is.True(launch().Outcome != proc.NotStarted)
	}
}
