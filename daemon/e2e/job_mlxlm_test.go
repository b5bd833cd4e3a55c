package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// share is what a rank of generate.py says that it has of the model, and what it generated.
type share struct {
	heads, weights int
	tokens         string
}

// half is what each of two ranks is to have.
func (s share) half() share { return share{s.heads / 2, s.weights / 2, s.tokens} }

// generated finds what a rank of generate.py printed.
func generated(t *testing.T, out string, rank, of int) (s share) {
	t.Helper()
	_, reported, found := strings.Cut(out, fmt.Sprintf("rank %d of %d, ", rank, of))
	reported, _, _ = strings.Cut(reported, "\n")
	numbers, tokens, _ := strings.Cut(reported, ": ")
	if n, _ := fmt.Sscanf(numbers, "%d heads, %d weights", &s.heads, &s.weights); !found || n != 2 || len(strings.Fields(tokens)) != 8 {
		t.Fatalf("rank %d of %d printed no share and 8 tokens: %q", rank, of, out)
	}
	s.tokens = tokens
	return s
}

// Two ranks with half of the model each say what one with all of it says.
func (j *jobs) testGenerate(t *testing.T) {
	j.needMLXLM(t)
	is := is.New(t)
	command := []string{"--", j.Python, j.Program("generate.py"), j.model(t), "hello", "8"}
	alone := end(t, j.run(t, command...))
	is.Equal(alone.status, 0)
	whole := generated(t, alone.out, 0, 1)
	is.True(whole.heads > 1)
	both := end(t, j.run(t, append([]string{"-n", "2", "--backend", "ring"}, command...)...))
	is.Equal(both.status, 0)
	for rank := range 2 {
		is.Equal(generated(t, both.out, rank, 2), whole.half())
		is.Equal(strings.Count(both.out, fmt.Sprintf("[%d] rank %d of 2", rank, rank)), 1)
	}
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
	is.Equal(l.status(t, timeout), 0)
}
