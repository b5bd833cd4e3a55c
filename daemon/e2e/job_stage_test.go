package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"fulmen/daemon/e2e/desk"
)

// stage is a stage of a test.
type stage struct {
	t *testing.T
	*desk.Stage
}

// newStage makes a stage, or skips the test where nobody can run jobs.
func newStage(t *testing.T) *stage {
	t.Helper()
	s, err := desk.NewStage(filepath.Join("..", ".."))
	t.Cleanup(s.Close)
	if errors.Is(err, desk.ErrNobody) {
		t.Skip(err)
	}
	must(t, "a stage", err)
	return &stage{t, s}
}

// buildFulmen builds Fulmen's own programs.
func (s *stage) buildFulmen() {
	s.t.Helper()
	must(s.t, "building", s.Build(s.t.Context(), "fulmen/cmd/fulmen", "fulmen/cmd/fulmend"))
	if exists(worker()) {
		must(s.t, "the worker", desk.Link(worker(), s.Worker, true))
	}
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
