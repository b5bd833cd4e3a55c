package e2e

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"fulmen/daemon/e2e/testcluster"
)

// stage is a stage of a test.
type stage struct {
	t *testing.T
	*testcluster.Stage
}

// newStage makes a stage, or skips the test where nobody can run jobs.
func newStage(t *testing.T) *stage {
	t.Helper()
	s, err := testcluster.NewStage(filepath.Join("..", ".."))
	t.Cleanup(s.Close)
	if errors.Is(err, testcluster.ErrNobody) {
		t.Skip(err)
	}
	must(t, "a stage", err)
	return &stage{t, s}
}

// programs are those that tests have built, all of them at once and for all tests.
type programs struct {
	once   sync.Once
	folder string
	err    error
}

// built is removed when the tests have ended.
var built programs

// path is that of a program by its name.
func (p *programs) path(t *testing.T, name string) string {
	t.Helper()
	p.once.Do(func() {
		if p.folder, p.err = os.MkdirTemp("", "fulmen-built-"); p.err == nil {
			s := &testcluster.Stage{Bin: p.folder, Checkout: filepath.Join("..", "..")}
			p.err = errors.Join(os.Chmod(p.folder, 0o755),
				s.Build(context.Background(), "fulmen/cmd/fulmen", "fulmen/cmd/fulmend", "fulmen/cmd/fulmen-shim", "fulmen/daemon/e2e/jaccl/standin"))
		}
	})
	must(t, "building", p.err)
	return filepath.Join(p.folder, name)
}

// buildFulmen puts Fulmen's own programs on the stage.
func (s *stage) buildFulmen() {
	s.t.Helper()
	for _, to := range []string{s.Fulmen, s.Fulmend, s.Shim} {
		must(s.t, "a program", testcluster.Link(built.path(s.t, filepath.Base(to)), to, true))
	}
	if exists(worker()) {
		must(s.t, "the worker", testcluster.Link(worker(), s.Worker, true))
	}
}

// buildStandin puts there what takes the place of a program that uses JACCL.
func (s *stage) buildStandin() (path string) {
	s.t.Helper()
	path = filepath.Join(s.Bin, "standin")
	must(s.t, "the stand-in", testcluster.Link(built.path(s.t, "standin"), path, true))
	return path
}

// needPython skips a test whose programs are Python's.
func (s *stage) needPython(t *testing.T) {
	t.Helper()
	if s.WhyNoPython != "" {
		t.Skip(s.WhyNoPython)
	}
}

// needMLXLM skips a test that runs mlx_lm.
func (s *stage) needMLXLM(t *testing.T) {
	t.Helper()
	s.needPython(t)
	if s.WhyNoMLXLM != "" {
		t.Skip(s.WhyNoMLXLM)
	}
}

// ring is a hostfile.
func (s *stage) ring(ranks int) string {
	s.t.Helper()
	path, err := s.Ring(ranks)
	must(s.t, "a hostfile", err)
	return path
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
