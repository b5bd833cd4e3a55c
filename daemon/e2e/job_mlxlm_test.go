package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// Two ranks with half of the model each say what one with all of it says.
func (j *jobs) testGenerate(t *testing.T) {
	j.needMLXLM(t)
	is := is.New(t)
	model := j.model(t)
	command := []string{"--", j.Python, j.Program("generate.py"), model, "hello", "8"}
	alone := end(t, j.run(t, command...))
	is.Equal(alone.status, 0)
	tokens, found := strings.CutPrefix(alone.out, "rank 0 of 1: ")
	is.True(found)
	is.Equal(len(strings.Fields(tokens)), 8)
	both := end(t, j.run(t, append([]string{"-n", "2", "--backend", "ring"}, command...)...))
	is.Equal(both.status, 0)
	for rank := range 2 {
		is.Equal(strings.Count(both.out, fmt.Sprintf("[%d] rank %d of 2: %s", rank, rank, tokens)), 1)
	}
	got := end(t, j.run(t, "-n", "2", "--backend", "ring", "--", j.Python, "-m", "mlx_lm", "generate", "--model", model, "--prompt", "hello", "--max-tokens", "8"))
	is.Equal(got.status, 0)
	is.True(strings.Contains(got.out, "Generation: 8 tokens"))
}

// Every turn of a chat is typed once the one before is answered, and reaches
// both ranks.
func (j *jobs) testChat(t *testing.T) {
	j.needMLXLM(t)
	is := is.New(t)
	l := begin(t, j.run(t, "-n", "2", "--backend", "ring", "--stdin", "all", "--", j.Python, "-m", "mlx_lm", "chat", "--model", j.model(t), "--max-tokens", "8"))
	const answered = "8 tokens" // what is said of each answer
	for turn := range 3 {
		_, err := fmt.Fprintf(l.in, "turn %d\n", turn)
		is.NoErr(err)
		l.until(t, fmt.Sprintf("answer %d", turn), func(s string) bool { return strings.Count(s, answered) > turn })
	}
	_, err := fmt.Fprintln(l.in, "q")
	is.NoErr(err)
	is.Equal(l.status(t, patience), 0)
}
