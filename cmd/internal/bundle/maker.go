package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"fulmen/cmd/internal/bundle/layout"
	"fulmen/cmd/internal/bundle/legal"
	"fulmen/cmd/internal/bundle/steps"
	"fulmen/native/plist"
)

// maker makes the app and what is published of it.
type maker struct {
	paths      steps.Paths
	machine    steps.Machine
	dry        bool
	repository string
	now        time.Time
	out        io.Writer
	exec       func(steps.Step) error
}

func (m *maker) report(format string, args ...any) { fmt.Fprintf(m.out, format+"\n", args...) }

// ready says what the machine lacks for a goal; a dry run goes on without it.
func (m *maker) ready(goal steps.Goal) error {
	lacks := steps.Lacks(goal, m.paths, m.machine)
	for _, l := range append(lacks, steps.Advice(goal, m.machine)...) {
		m.report("make %s: %s is missing\n  %s", goal, l.What, l.Remedy)
	}
	if len(lacks) > 0 && !m.dry {
		return fmt.Errorf("make %s needs what is listed above", goal)
	}
	return nil
}

// all runs steps one after the other, until one fails.
func (m *maker) all(list []steps.Step) error {
	for _, step := range list {
		m.report("%s", step.Why)
		m.report("  %s", step)
		if m.dry {
			continue
		}
		if err := m.exec(step); err != nil {
			return err
		}
	}
	return nil
}

// files does what is no command; a dry run says it.
func (m *maker) files(why string, do func() error) error {
	m.report("%s", why)
	if m.dry {
		return nil
	}
	return do()
}

// identity is who signs the app; ad hoc where nobody is named.
func (m *maker) identity() string {
	if identity := m.machine.Getenv(steps.SignIdentity); identity != "" {
		return identity
	}
	return steps.AdHoc
}

// app builds the programs and puts the app together, signed ad hoc.
func (m *maker) app() error {
	if err := m.ready(steps.GoalApp); err != nil {
		return err
	}
	if err := m.all(steps.Build(m.paths)); err != nil {
		return err
	}
	if err := m.files("put the app together: "+m.paths.Bundle(), m.assemble); err != nil {
		return err
	}
	if err := m.signed(steps.AdHoc); err != nil {
		return err
	}
	return m.files("check the app", func() error { return check(m.paths.Bundle(), m.out) })
}

func (m *maker) assemble() error {
	parts, err := m.components()
	if err != nil {
		return err
	}
	own, err := os.ReadFile(filepath.Join(m.paths.Root, "LICENSE"))
	if err != nil {
		return err
	}
	return layout.Assemble(m.paths.Bundle(), layout.Parts(layout.Sources{
		Repository: m.paths.Root, Programs: m.paths.Programs(), MLX: filepath.Join(m.paths.Root, "build/mlx/current/mlx/lib"),
		Licences: []byte(legal.Text(string(own), parts)),
	}))
}

// components are what of others is shipped.
func (m *maker) components() ([]legal.Component, error) {
	var packages []string
	for _, name := range layout.Programs() {
		packages = append(packages, "./cmd/"+name)
	}
	parts, err := legal.Modules(m.paths.Root, packages...)
	if err != nil {
		return nil, err
	}
	page, err := legal.Page(filepath.Join(m.paths.Root, "assets/dashboard"))
	if err != nil {
		return nil, err
	}
	mlx, err := legal.MLX(filepath.Join(m.paths.Root, "build/mlx/current"), filepath.Join(m.paths.Root, "cmd/internal/deps/pins.txt"))
	return append(append(parts, page...), mlx), err
}

// signed signs the app as somebody.
func (m *maker) signed(identity string) error {
	return m.all(steps.Sign(m.paths, identity, m.asks))
}

// asks reports whether a program asks for entitlements. A file that cannot be
// read is signed in, so that codesign says why.
func (m *maker) asks(program string) bool {
	text, err := os.ReadFile(m.paths.Entitlements(program))
	if err != nil {
		return true
	}
	v, err := plist.Parse(text)
	dict, ok := v.(map[string]any)
	return err != nil || !ok || len(dict) > 0
}

// sign signs the app with a Developer ID, after it was put together.
func (m *maker) sign() error {
	if err := m.ready(steps.GoalSign); err != nil {
		return err
	}
	identity := m.identity()
	if team := steps.Team(identity); team != "" {
		err := m.files("bind the daemon's job to the team "+team, func() error {
			path := filepath.Join(m.paths.Bundle(), "Contents", layout.LaunchdJob)
			return m.job(path, path, func(j layout.Job) layout.Job { return j.Constrained(team) })
		})
		if err != nil {
			return err
		}
	}
	if err := m.signed(identity); err != nil {
		return err
	}
	return m.files("check the app", func() error { return check(m.paths.Bundle(), m.out) })
}

// job writes the daemon's launchd job with a change.
func (m *maker) job(from, to string, change func(layout.Job) layout.Job) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	j, err := layout.ReadJob(text)
	if err != nil {
		return err
	}
	if text, err = change(j).Text(); err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}

// notarize has Apple look at files, the app where none is named.
func (m *maker) notarize(files []string) error {
	if err := m.ready(steps.GoalNotarize); err != nil {
		return err
	}
	if len(files) == 0 {
		files = []string{m.paths.Bundle()}
	}
	if !m.dry {
		if err := os.MkdirAll(m.paths.Work(), 0o755); err != nil {
			return err
		}
	}
	for _, file := range files {
		if err := m.all(steps.Notarize(m.paths, file, m.machine.Notary())); err != nil {
			return err
		}
	}
	return nil
}

// release makes everything in order. What nobody can vouch for is made all the
// same, and said, so that it can be tried.
func (m *maker) release() error {
	verified := m.machine.Getenv(steps.SignIdentity) != "" || m.dry
	notarized := func(files ...string) func() error { return func() error { return m.notarize(files) } }
	parts := []func() error{m.app, m.image, m.pack, m.papers}
	if verified {
		parts = []func() error{m.app, m.sign, notarized(), m.image, m.pack, notarized(m.paths.DiskImage(), m.paths.Package()), m.papers}
	}
	for _, part := range parts {
		if err := part(); err != nil {
			return err
		}
	}
	if !verified {
		m.report("This is not signed, because %s names no identity. Use it to try Fulmen; do not publish it.", steps.SignIdentity)
	}
	m.report("made in %s", m.paths.Release())
	return nil
}
